#include "wire/attach.h"

#include <string.h>

#include "base/bounds.h"
#include "commands/input.h"
#include "commands/lifecycle.h"
#include "commands/output.h"
#include "commands/process.h"
#include "wire/frame.h"
#include "wire/wire.h"

static bool send_output(struct stream *s, struct channel *channel, int number) {
  struct ring *ring = &channel->ring;
  if (s->offset[number] < ring->start) s->offset[number] = ring->start;
  if (s->offset[number] > ring->end) s->offset[number] = ring->end;
  if (s->offset[number] == ring->end || s->credit[number] == 0 || !connection_has_room(s->connection)) return false;
  const uint8_t *piece;
  size_t limit = s->credit[number] < CHUNK_BYTES ? (size_t)s->credit[number] : CHUNK_BYTES;
  size_t count = ring_peek(ring, s->offset[number], limit, &piece);
  uint8_t head[9];
  put_u64(put_u8(head, (uint8_t)number), s->offset[number]);
  send_frame(s->connection, GUEST_DATA, s->id, head, sizeof head, piece, count);
  s->offset[number] += count;
  s->credit[number] -= count;
  return true;
}

/* Once the process is over, so that END and EXIT leave in one piece: nobody can do anything with the one before the other. */
static bool send_end(struct stream *s, const struct channel *channel, int number) {
  bool due = process_over(s->process) && !s->ended[number] && s->offset[number] == channel->ring.end;
  if (!due) return false;
  uint8_t head[9];
  put_u64(put_u8(head, (uint8_t)number), channel->ring.end);
  send_frame(s->connection, GUEST_END, s->id, head, sizeof head, NULL, 0);
  s->ended[number] = true;
  return true;
}

static void send_exit(struct stream *s, const struct process *p) {
  uint8_t head[18];
  size_t length = strlen(p->message);
  uint8_t *at = put_u32(put_u8(put_u8(head, p->kind), p->exit_flags), (uint32_t)p->code);
  put_u32(put_u64(at, (uint64_t)p->ran_us), (uint32_t)length);
  send_frame(s->connection, GUEST_EXIT, s->id, head, sizeof head, p->message, length);
}

static void send_started(struct stream *s, const struct process *p) {
  uint8_t head[8];
  put_u32(put_u32(head, p->id), (uint32_t)p->pid);
  send_frame(s->connection, GUEST_STARTED, s->id, head, sizeof head, NULL, 0);
  s->started = true;
}

bool attach_deliver(struct stream *s) {
  struct process *p = s->process;
  if (!p->known) return false;
  if (!s->started) {
    send_started(s, p);
    input_grant(s);
  }
  bool sent = false;
  for (int i = 0; i < 2; i++) {
    struct channel *channel = &p->output[i];
    if (send_output(s, channel, i + 1)) {
      sent = true;
      output_resume(p, channel);
    }
    if (send_end(s, channel, i + 1)) sent = true;
  }
  if (process_over(p) && s->ended[1] && s->ended[2]) {
    send_exit(s, p);
    p->delivered = true;
    stream_close(s);
  }
  return sent;
}

/* EXIT comes with the end of the process, whether or not its output was read; a connection that reads the output gets an EXIT of its own. */
static void deliver_watch(struct stream *s) {
  struct process *p = s->process;
  if (!p->known) return;
  if (!s->started) send_started(s, p);
  if (!p->exited) return;
  send_exit(s, p);
  stream_close(s);
}

void attach_resume(struct stream *s) {
  uint32_t id = s->id;
  struct connection *c = s->connection;
  while (attach_deliver(s)) {
    if (stream_find(c, id) != s) return;
  }
}

void attach_deliver_all(struct process *p) {
  struct stream *next;
  for (struct stream *s = p->attached; s; s = next) {
    next = s->next_attached;
    if (s->kind == STREAM_PROCESS) attach_resume(s);
    else if (s->kind == STREAM_WATCH) deliver_watch(s);
  }
}

static void link_stream(struct stream *s, struct process *p) {
  s->process = p;
  s->next_attached = p->attached;
  p->attached = s;
}

void attach_stream(struct stream *s, struct process *p) {
  link_stream(s, p);
  attach_resume(s);
}

void attach_watcher(struct stream *s, struct process *p) {
  link_stream(s, p);
  deliver_watch(s);
}

void attach_waiter(struct stream *s, struct process *p) { link_stream(s, p); }

void attach_answer_waiters(struct process *p, enum stream_kind kind) {
  struct stream *next;
  for (struct stream *s = p->attached; s; s = next) {
    next = s->next_attached;
    if (s->kind != kind) continue;
    send_ok(s);
    stream_close(s);
  }
}

void attach_release(struct stream *s) {
  struct process *p = s->process;
  for (struct stream **at = &p->attached; *at; at = &(*at)->next_attached) {
    if (*at == s) {
      *at = s->next_attached;
      break;
    }
  }
  s->process = NULL;
  /* A slow reader that leaves may be what the others were waiting for. */
  for (int i = 0; i < 2; i++) output_resume(p, &p->output[i]);
  if (s->connection->doomed) process_abandoned(p);
}
