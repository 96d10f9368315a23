/*
 * `cloche-guest starter`: plays other roles of this program in processes of its own, for the daemon, which has it as its child.
 *
 * To start a process, the daemon would copy the tables of all its memory first, and nothing else in it moves for these milliseconds. This program is small. It
 * also needs no new program: a role is a function.
 *
 * Requests come on stdin, events go to stdout: 32 bits of length, 32 bits of id, and for an event one byte of kind, all little-endian.
 * A request is NUL-ended words: a log file or nothing, and the role with its arguments. Where there is a log, a role has it as stdout and stderr, and tells its
 * status on descriptor 3; otherwise what it writes to stderr is its status. When the daemon is gone this ends, and what it has started goes on.
 *
 * It also holds at most one spare (walls/spare.h): `spare-wall` makes it, and the next `wall --spare` gets it.
 */
#include "host_programs/starter.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/complain.h"
#include "base/descriptors.h"
#include "role.h"
#include "walls/spare.h"

#define MAX_REQUEST (1u << 20)
#define MAX_WORDS 4096u
#define CHUNK 4096u
#define STATUS_FD 3
#define FAILED 125

enum event_kind { EVENT_PID = 'P', EVENT_STATUS = 'S', EVENT_EXIT = 'X', EVENT_FAILURE = 'E' };

struct child {
  uint32_t id;
  pid_t pid;
  int status; /* -1: closed */
};

struct starter {
  int signals;
  sigset_t mask; /* as it was, for children */
  struct child *children;
  struct pollfd *polled;
  size_t count, room;
  int maker; /* of the spare, until that is there; -1: none is made */
  struct spare spare;
  bool has_spare;
};

/* The polled that are no children. */
enum { REQUESTS, SIGNALS, MAKER, FIRST_CHILD };

static void give_up(const char *what) {
  complain("Cannot %s: %s", what, strerror(errno));
  _exit(FAILED);
}

static void write_all(const void *bytes, size_t length) {
  for (const char *at = bytes; length > 0;) {
    ssize_t written = write(STDOUT_FILENO, at, length);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) _exit(0); /* the daemon is gone */
    at += written;
    length -= (size_t)written;
  }
}

static void tell(uint32_t id, enum event_kind kind, const void *bytes, size_t length) {
  unsigned char frame[9 + CHUNK];
  uint32_t rest = (uint32_t)(length + 5);
  memcpy(frame, &rest, 4);
  memcpy(frame + 4, &id, 4);
  frame[8] = (unsigned char)kind;
  if (length > 0) memcpy(frame + 9, bytes, length);
  write_all(frame, 9 + length);
}

static void tell_number(uint32_t id, enum event_kind kind, int32_t number) { tell(id, kind, &number, sizeof number); }

static void tell_failure(uint32_t id, const char *what) {
  char text[256];
  int length = snprintf(text, sizeof text, "cannot %s: %s", what, strerror(errno));
  tell(id, EVENT_FAILURE, text, (size_t)length);
}

/* False at the end. */
static bool read_all(void *bytes, size_t length) {
  for (char *at = bytes; length > 0;) {
    ssize_t taken = read(STDIN_FILENO, at, length);
    if (taken < 0 && errno == EINTR) continue;
    if (taken <= 0) return false;
    at += taken;
    length -= (size_t)taken;
  }
  return true;
}

/* What a role has from STATUS_FD on. */
struct passed {
  int fds[1 + SPARE_PARTS];
  size_t count;
};

static bool is_role(const char *name, char *const *argv) { return strcmp(argv[0], name) == 0; }

static bool takes_spare(const struct starter *s, char *const *argv) {
  return s->has_spare && is_role("wall", argv) && argv[1] && strcmp(argv[1], "--spare") == 0;
}

static void give_spare(struct starter *s, struct passed *passed) {
  memcpy(passed->fds + 1, s->spare.parts, sizeof s->spare.parts);
  passed->count = 1 + SPARE_PARTS;
  for (int i = 0; i < SPARE_PARTS; i++) s->spare.parts[i] = STATUS_FD + 1 + i;
  spare_given = &s->spare;
}

_Noreturn static void become(struct starter *s, int log, int status, int maker, int argc, char **argv) {
  setsid(); /* no signal of the daemon's terminal reaches it */
  if (log >= 0 && (dup2(log, STDOUT_FILENO) < 0 || dup2(log, STDERR_FILENO) < 0)) _exit(FAILED);
  int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (nothing < 0 || dup2(nothing, STDIN_FILENO) < 0) _exit(FAILED);
  if (log < 0 && (dup2(nothing, STDOUT_FILENO) < 0 || dup2(status, STDERR_FILENO) < 0)) _exit(FAILED);
  struct passed passed = {.fds = {maker >= 0 ? maker : status}, .count = log >= 0 || maker >= 0 ? 1 : 0};
  if (takes_spare(s, argv)) give_spare(s, &passed);
  if (!descriptors_keep(passed.fds, passed.count, STATUS_FD)) _exit(FAILED);
  signal(SIGPIPE, SIG_DFL);
  sigprocmask(SIG_SETMASK, &s->mask, NULL);
  int code = role_play(argc, argv);
  exit(code == ROLE_UNKNOWN ? FAILED : code);
}

static bool make_room(struct starter *s) {
  if (s->count < s->room) return true;
  size_t room = s->room ? 2 * s->room : 16;
  struct child *children = realloc(s->children, room * sizeof *children);
  if (children) s->children = children;
  struct pollfd *polled = realloc(s->polled, (room + FIRST_CHILD) * sizeof *polled);
  if (polled) s->polled = polled;
  if (!children || !polled) return false;
  s->room = room;
  return true;
}

static void let_go_of_spare(struct starter *s) {
  if (s->has_spare) spare_close(&s->spare);
  s->has_spare = false;
}

static void forget_maker(struct starter *s) {
  if (s->maker >= 0) close(s->maker);
  s->maker = -1;
}

/* There is one at most. What has sent nothing has told why by its status, and the next wall makes its own. */
static void take_from_maker(struct starter *s) {
  let_go_of_spare(s);
  s->has_spare = spare_receive(s->maker, &s->spare);
  forget_maker(s);
}

/* The maker's end of a new channel; -1 for other roles. */
static int open_channel(struct starter *s, char *const *argv) {
  int channel[2];
  if (!is_role("spare-wall", argv) || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, channel) != 0) return -1;
  forget_maker(s);
  s->maker = channel[0];
  return channel[1];
}

static void start(struct starter *s, uint32_t id, const char *log_path, int argc, char **argv) {
  int status[2] = {-1, -1};
  int maker = open_channel(s, argv);
  int log = *log_path ? open(log_path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600) : -1;
  bool ready = make_room(s) && (!*log_path || log >= 0) && pipe2(status, O_CLOEXEC) == 0;
  pid_t pid = ready ? fork() : -1;
  if (pid == 0) become(s, log, status[1], maker, argc, argv);
  if (pid < 0) {
    tell_failure(id, "start a process");
    close(status[0]);
  } else {
    fcntl(status[0], F_SETFL, O_NONBLOCK);
    s->children[s->count++] = (struct child){.id = id, .pid = pid, .status = status[0]};
    /* SECURITY: the child is the only one to have it: no two sandboxes share a network, ids or anything else of it (G-138) */
    if (takes_spare(s, argv)) let_go_of_spare(s);
    tell_number(id, EVENT_PID, pid);
  }
  if (maker >= 0) close(maker);
  close(status[1]);
  close(log);
}

/* False when the daemon is gone. */
static bool take_request(struct starter *s) {
  static char text[MAX_REQUEST + 1];
  char *words[MAX_WORDS + 1];
  uint32_t length, id;
  if (!read_all(&length, sizeof length)) return false;
  if (length < sizeof id || length > MAX_REQUEST) return false;
  if (!read_all(&id, sizeof id) || !read_all(text, length - sizeof id)) return false;
  text[length - sizeof id] = '\0';
  size_t count = 0;
  for (size_t at = 0; at < length - sizeof id && count < MAX_WORDS; at += strlen(text + at) + 1) words[count++] = text + at;
  words[count] = NULL;
  if (count < 2) return false;
  start(s, id, words[0], (int)count - 1, words + 1);
  return true;
}

/* Passes on what there is. */
static void pass_status_on(struct child *c) {
  char chunk[CHUNK];
  for (;;) {
    ssize_t taken = read(c->status, chunk, sizeof chunk);
    if (taken < 0 && errno == EINTR) continue;
    if (taken < 0 && errno == EAGAIN) return;
    if (taken <= 0) break;
    tell(c->id, EVENT_STATUS, chunk, (size_t)taken);
  }
  close(c->status);
  c->status = -1;
}

static void reap(struct starter *s) {
  struct signalfd_siginfo signals[8];
  int status;
  pid_t pid;
  while (read(s->signals, signals, sizeof signals) > 0) continue;
  while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
    size_t i = 0;
    while (i < s->count && s->children[i].pid != pid) i++;
    if (i == s->count) continue;
    struct child c = s->children[i];
    if (c.status >= 0) pass_status_on(&c);
    if (c.status >= 0) close(c.status);
    tell_number(c.id, EVENT_EXIT, WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status));
    s->children[i] = s->children[--s->count];
  }
}

static void wait_for_news(struct starter *s) {
  s->polled[REQUESTS] = (struct pollfd){.fd = STDIN_FILENO, .events = POLLIN};
  s->polled[SIGNALS] = (struct pollfd){.fd = s->signals, .events = POLLIN};
  s->polled[MAKER] = (struct pollfd){.fd = s->maker, .events = POLLIN};
  for (size_t i = 0; i < s->count; i++) s->polled[i + FIRST_CHILD] = (struct pollfd){.fd = s->children[i].status, .events = POLLIN};
  if (poll(s->polled, s->count + FIRST_CHILD, -1) < 0 && errno != EINTR) give_up("wait");
}

int starter_main(int argc, char **argv) {
  (void)argc;
  (void)argv;
  struct starter s = {.maker = -1};
  sigset_t children;
  sigemptyset(&children);
  sigaddset(&children, SIGCHLD);
  signal(SIGPIPE, SIG_IGN);
  if (sigprocmask(SIG_BLOCK, &children, &s.mask) < 0) give_up("block signals");
  s.signals = signalfd(-1, &children, SFD_NONBLOCK | SFD_CLOEXEC);
  if (s.signals < 0 || !make_room(&s)) give_up("begin");
  for (;;) {
    wait_for_news(&s);
    for (size_t i = 0; i < s.count; i++) {
      if (s.polled[i + FIRST_CHILD].revents && s.children[i].status >= 0) pass_status_on(&s.children[i]);
    }
    if (s.polled[MAKER].revents) take_from_maker(&s);
    if (s.polled[SIGNALS].revents) reap(&s);
    if (s.polled[REQUESTS].revents && !take_request(&s)) return 0;
  }
}
