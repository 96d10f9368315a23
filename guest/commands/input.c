#include "commands/input.h"

#include <errno.h>
#include <sys/epoll.h>
#include <termios.h>
#include <unistd.h>

#include "base/bounds.h"
#include "wire/wire.h"

#define GRANT_STEP (INPUT_WINDOW / 4) /* smaller credits are not worth a frame */

static bool wants_input(const struct process *p) { return p->flags & (SPAWN_STDIN | SPAWN_PTY) && !p->input_ended && !p->reaped; }

void input_grant(struct stream *s) {
  struct process *p = s->process;
  size_t held = buffer_size(&p->input_bytes);
  if (!s->started || !wants_input(p) || held >= INPUT_WINDOW) return;
  uint64_t target = INPUT_WINDOW - held;
  uint64_t more = target > s->credit[0] ? target - s->credit[0] : 0;
  if (more < GRANT_STEP) return;
  s->credit[0] = target;
  send_credit(s, (uint32_t)more);
}

static void grant_all(struct process *p) {
  for (struct stream *s = p->attached; s; s = s->next_attached) {
    if (s->kind == STREAM_PROCESS) input_grant(s);
  }
}

void input_close(struct process *p) {
  buffer_free(&p->input_bytes);
  loop_close(&p->input);
}

static void finish(struct process *p) {
  if (!p->input_ended || buffer_size(&p->input_bytes) > 0) return;
  if (!(p->flags & SPAWN_PTY)) {
    input_close(p);
    return;
  }
  /* A terminal has no end of file but the key for it. */
  struct termios modes;
  unsigned char key = 4;
  if (tcgetattr(p->input.fd, &modes) == 0) key = modes.c_cc[VEOF];
  if (write(p->input.fd, &key, 1) < 0) input_close(p);
  p->input_ended = false;
}

static void pump(struct process *p) {
  while (buffer_size(&p->input_bytes) > 0) {
    ssize_t written = write(p->input.fd, buffer_bytes(&p->input_bytes), buffer_size(&p->input_bytes));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno == EAGAIN) break;
    if (written < 0) {
      /* Nobody reads any more: what comes is dropped, so that the host never waits for credit. */
      input_close(p);
      break;
    }
    buffer_consume(&p->input_bytes, (size_t)written);
  }
  if (p->input.fd >= 0) {
    (void)loop_watch(&p->input, buffer_size(&p->input_bytes) > 0 ? EPOLLOUT : 0);
    finish(p);
  }
  grant_all(p);
}

static void on_writable(struct watch *w, uint32_t events) {
  (void)events;
  pump(w->owner);
}

void input_open(struct process *p, int fd) { p->input = (struct watch){.fd = fd, .ready = on_writable, .owner = p}; }

void input_data(struct stream *s, const uint8_t *bytes, size_t count) {
  struct process *p = s->process;
  if (p->input_ended) return;
  if (p->input.fd >= 0 && !buffer_append(&p->input_bytes, bytes, count)) {
    connection_doom(s->connection);
    return;
  }
  pump(p);
}

void input_end(struct process *p) {
  if (!wants_input(p)) return;
  p->input_ended = true;
  if (p->input.fd >= 0) finish(p);
}
