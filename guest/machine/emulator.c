/*
 * `cloche-guest emulator`: what has to happen between the daemon and the emulator of a machine.
 *
 * It runs with the rights of the user who runs cloche: records the pid, opens the files and makes the sockets that the emulator is to have, as
 * descriptors from FIRST_FD on, in the order in which they are named. Then it enters a cell, gives up these rights, and becomes the emulator, which can
 * reach nothing on the host but those descriptors and the system's programs.
 */
#include "machine/emulator.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/launcher.h"
#include "machine/cell.h"

#define STATUS_FD 3  /* pipe from the daemon: "B" once everything is there, "E message" on failure */
#define FIRST_FD 10

struct emulator_options {
  const char *directory;
  unsigned long user; /* also the group; 0: stay who we are */
  unsigned long group; /* one more, to reach the host's accelerator; 0: none */
  char **program;
};

static int next_fd = FIRST_FD;

static void pass(int fd, const char *name) {
  /* A copy is without close-on-exec. */
  if (fd < 0) fail("cannot open %s", name);
  if (dup2(fd, next_fd) != next_fd || close(fd) != 0) fail("cannot pass %s on", name);
  next_fd++;
}

/* What is opened must not take the number of one that is passed on. */
static int above(int fd) {
  int moved = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, FIRST_FD + 100);
  int error = errno;
  if (fd >= 0) close(fd);
  errno = error;
  return moved;
}

static bool take_option(struct emulator_options *o, const char *name, const char *value) {
  if (strcmp(name, "--directory") == 0) {
    o->directory = value;
    if (chdir(value) != 0) fail("cannot enter %s", value);
    record_own_pid(WALL_PID);
  } else if (strcmp(name, "--user") == 0) o->user = strtoul(value, NULL, 10);
  else if (strcmp(name, "--group") == 0) o->group = strtoul(value, NULL, 10);
  else if (strcmp(name, "--read") == 0) pass(above(open(value, O_RDONLY | O_CLOEXEC)), value);
  else if (strcmp(name, "--write") == 0) pass(above(open(value, O_RDWR | O_CLOEXEC)), value);
  else if (strcmp(name, "--listen") == 0) pass(above(listen_privately(value)), value);
  else return false;
  return true;
}

static void read_options(char **argv, struct emulator_options *o) {
  for (char **at = argv + 1; *at; at += 2) {
    if (strcmp(*at, "--") == 0) {
      o->program = at + 1;
      break;
    }
    if (!at[1] || !take_option(o, at[0], at[1])) fail_usage("unknown option or missing value");
  }
  if (!o->directory || !o->program || !o->program[0]) fail_usage("missing option");
}

/* SECURITY: an emulator that a guest has broken out to has a user of its own on the host, who owns nothing (G-22) */
static void become_nobody(const struct emulator_options *o) {
  gid_t groups[1] = {(gid_t)o->group};
  if (setgroups(o->group > 0 ? 1 : 0, groups) != 0) fail("cannot drop groups");
  if (setresgid((gid_t)o->user, (gid_t)o->user, (gid_t)o->user) != 0 || setresuid((uid_t)o->user, (uid_t)o->user, (uid_t)o->user) != 0)
    fail("cannot become the emulator's user");
}

int emulator_main(int argc, char **argv) {
  struct emulator_options options = {0};
  (void)argc;
  launcher_status = fcntl(STATUS_FD, F_DUPFD_CLOEXEC, FIRST_FD + 100);
  if (launcher_status >= 0) close(STATUS_FD);
  read_options(argv, &options);
  const char *program = cell_enter(options.program[0], options.user == 0);
  if (options.user > 0) become_nobody(&options);
  cell_close();
  if (launcher_status >= 0 && write(launcher_status, "B", 1) != 1) fail("cannot report");
  /* The daemon, which reads what it prints, may end. */
  for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++) (void)fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
  (void)signal(SIGPIPE, SIG_IGN);
  execv(program, options.program);
  fail("cannot run %s", options.program[0]);
}
