/*
 * The gate of a workspace may have to speak to a git upstream over `ssh`, with a key of the user's, or to one that is a folder of the user's. Its own user can read
 * neither. So the keeper runs the program for it, with a socket for its standard input and output: the gate gets the conversation, and never the key.
 *
 * What is run is in the file `run-N` of the gate's folder, which the daemon has written: words, each with a NUL behind it, an empty one, and variables in the same way.
 * The gate says N, and nothing of what is run.
 */
#include "host_programs/gate_programs.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_PROGRAMS 32
#define MAX_TEXT 65536
#define MAX_WORDS 128

static pid_t running[MAX_PROGRAMS];

void gate_programs_reap(void) {
  for (size_t i = 0; i < MAX_PROGRAMS; i++) {
    if (running[i] > 0 && waitpid(running[i], NULL, WNOHANG) != 0) running[i] = 0;
  }
}

void gate_programs_end(void) {
  for (size_t i = 0; i < MAX_PROGRAMS; i++) {
    if (running[i] <= 0) continue;
    (void)kill(-running[i], SIGKILL);
    (void)kill(running[i], SIGKILL);
    (void)waitpid(running[i], NULL, 0);
    running[i] = 0;
  }
}

static ssize_t read_text(int folder, unsigned number, char *text) {
  char name[24];
  struct stat st;
  snprintf(name, sizeof name, "run-%u", number);
  int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return -1;
  ssize_t size = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size < MAX_TEXT ? read(fd, text, MAX_TEXT - 2) : -1;
  if (size < 0) errno = EINVAL;
  close(fd);
  return size;
}

/* Words up to an empty one; `rest` is what follows it. */
static bool take_words(char *text, char *end, char **words, char **rest) {
  size_t count = 0;
  for (; text < end && *text && count < MAX_WORDS; text += strlen(text) + 1) words[count++] = text;
  words[count] = NULL;
  *rest = text < end ? text + 1 : end;
  return count < MAX_WORDS;
}

static void become_program(char **words, char **variables, int talk, int said, pid_t keeper) {
  sigset_t none;
  sigemptyset(&none);
  (void)sigprocmask(SIG_SETMASK, &none, NULL);
  (void)setpgid(0, 0);
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != keeper) _exit(125);
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) _exit(125);
  if (dup2(talk, 0) < 0 || dup2(talk, 1) < 0 || dup2(said, 2) < 0) _exit(125);
  execve(words[0], words, variables);
  dprintf(2, "cannot run %s: %s\n", words[0], strerror(errno));
  _exit(125);
}

bool gate_programs_start(int folder, unsigned number, int *talk, int *said) {
  static char text[MAX_TEXT];
  char *words[MAX_WORDS + 1];
  char *variables[MAX_WORDS + 1];
  char *rest;
  int talks[2] = {-1, -1};
  int says[2] = {-1, -1};
  size_t place = 0;
  while (place < MAX_PROGRAMS && running[place] > 0) place++;
  errno = EAGAIN;
  if (place == MAX_PROGRAMS) return false;
  ssize_t size = read_text(folder, number, text);
  if (size < 0) return false;
  memset(text + size, 0, 2);
  errno = EINVAL;
  if (!take_words(text, text + size, words, &rest) || !words[0] || !take_words(rest, text + size, variables, &rest)) return false;
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, talks) != 0) return false;
  pid_t keeper = getpid();
  pid_t child = socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, says) == 0 ? fork() : -1;
  if (child == 0) become_program(words, variables, talks[1], says[1], keeper);
  int error = errno;
  close(talks[1]);
  if (says[1] >= 0) close(says[1]);
  if (child < 0) {
    close(talks[0]);
    if (says[0] >= 0) close(says[0]);
    errno = error;
    return false;
  }
  running[place] = child;
  *talk = talks[0];
  *said = says[0];
  return true;
}
