#include "commands/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bounds.h"
#include "commands/input.h"
#include "commands/keeper.h"
#include "commands/lifecycle.h"
#include "commands/output.h"
#include "commands/process.h"
#include "commands/shim.h"
#include "commands/terminal.h"
#include "wire/attach.h"
#include "wire/request.h"
#include "wire/wire.h"

/* Both ends of everything between the guest program and the command; -1: none. */
struct ends {
  int ours[3];
  int theirs[3];
  int status_read;
  int status_write;
};

static bool make_pipe(int *read_end, int *write_end) {
  int both[2];
  if (pipe2(both, O_CLOEXEC) != 0) return false;
  *read_end = both[0];
  *write_end = both[1];
  return true;
}

static bool make_stdio(const struct request *q, struct ends *e) {
  if (q->flags & SPAWN_PTY) return terminal_open(&q->command, q->cols, q->rows, &e->ours[1], &e->theirs[0]);
  if (q->flags & SPAWN_STDIN) {
    if (!make_pipe(&e->theirs[0], &e->ours[0])) return false;
  } else {
    e->theirs[0] = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (e->theirs[0] < 0) return false;
  }
  if (!make_pipe(&e->ours[1], &e->theirs[1]) || !make_pipe(&e->ours[2], &e->theirs[2])) return false;
  /* A command that opens /dev/stdout anew needs to own its pipe; as its own user it does anyway. */
  for (int i = q->flags & SPAWN_STDIN ? 0 : 1; i < 3; i++) {
    if (fchown(e->theirs[i], q->command.uid, q->command.gid) != 0) break;
  }
  return true;
}

static void close_all(int *fds, int count) {
  for (int i = 0; i < count; i++) {
    if (fds[i] >= 0) close(fds[i]);
    fds[i] = -1;
  }
}

/* Hands our ends to the process, which closes them from now on. */
static bool adopt_ends(struct process *p, const struct request *q, struct ends *e) {
  size_t capacity = q->ring_bytes ? q->ring_bytes : RING_DEFAULT;
  bool terminal = q->flags & SPAWN_PTY;
  /* Input and output of a terminal are waited for one by one, which takes two descriptors. */
  if (terminal) e->ours[0] = fcntl(e->ours[1], F_DUPFD_CLOEXEC, 3);
  if (terminal && e->ours[0] < 0) return false;
  bool good = true;
  for (int i = 0; i < 3; i++) {
    int fd = e->ours[i];
    if (fd < 0) continue;
    e->ours[i] = -1;
    (void)fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
    if (i == 0) input_open(p, fd);
    else good = output_open(p, &p->output[i - 1], fd, capacity) && good;
  }
  int status = e->status_read;
  e->status_read = -1;
  (void)fcntl(status, F_SETFL, O_NONBLOCK);
  return lifecycle_start(p, status, q->timeout_ms) && good;
}

/* The request as it came: reading it makes strings of it in place. */
struct copy {
  uint8_t *bytes;
  size_t size;
};

static pid_t fork_process(const struct request *q, const struct copy *copy, int status_fd) {
  if (q->command.builtin) return builtin_fork(&q->command, status_fd);
  if (copy->bytes) return keeper_fork(copy->bytes, copy->size, q->command.stdio, status_fd);
  return shim_fork(&q->command, status_fd);
}

static void start(struct process *p, struct request *q, const struct copy *copy) {
  struct ends e = {{-1, -1, -1}, {-1, -1, -1}, -1, -1};
  bool ready = make_stdio(q, &e) && make_pipe(&e.status_read, &e.status_write);
  if (ready) {
    for (int i = 0; i < 3; i++) q->command.stdio[i] = q->command.terminal ? e.theirs[0] : e.theirs[i];
    ready = adopt_ends(p, q, &e);
  }
  pid_t pid = ready ? fork_process(q, copy, e.status_write) : -1;
  int error = errno;
  close_all(e.theirs, 3);
  close_all(e.ours, 3);
  close_all(&e.status_read, 1);
  close_all(&e.status_write, 1);
  if (pid > 0) {
    lifecycle_forked(p, pid);
    return;
  }
  char message[128];
  bool no_terminal = q->flags & SPAWN_PTY && error == ENOSPC;
  snprintf(message, sizeof message, "Cannot start: %s", no_terminal ? "all terminals of the sandbox are taken" : strerror(error));
  lifecycle_fail(p, error, message);
}

static void run(struct connection *c, uint32_t stream, struct request *q, const struct copy *copy) {
  struct process *p = process_new();
  char *tag = p ? strdup(q->tag) : NULL;
  if (p && !tag) {
    process_discard(p);
    p = NULL;
  }
  if (!p) {
    send_error(c, stream, EAGAIN, "Too many processes");
    return;
  }
  struct stream *s = stream_open(c, stream, STREAM_PROCESS);
  p->tag = tag;
  if (!s) {
    process_discard(p);
    return;
  }
  p->flags = q->flags;
  p->grace_ms = q->grace_ms;
  s->credit[1] = s->credit[2] = q->credit;
  start(p, q, copy);
  attach_stream(s, p);
}

/* False when there is no memory for a copy. */
static bool copy_for_keeper(const struct reader *r, struct copy *copy) {
  uint32_t flags = read_u32(&(struct reader){.at = r->at, .left = r->left});
  if (!(flags & SPAWN_SECRETS) || !keeper_is_there()) return true;
  copy->bytes = malloc(r->left);
  copy->size = r->left;
  if (copy->bytes) memcpy(copy->bytes, r->at, r->left);
  return copy->bytes;
}

void spawn_request(struct connection *c, uint32_t stream, struct reader *r) {
  struct request q = {0};
  struct copy copy = {0};
  if (!copy_for_keeper(r, &copy)) send_error(c, stream, ENOMEM, "No memory for a command");
  else if (request_read(r, &q)) run(c, stream, &q, &copy);
  else connection_doom(c);
  request_free(&q);
  if (copy.bytes) explicit_bzero(copy.bytes, copy.size);
  free(copy.bytes);
}
