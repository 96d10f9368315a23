#include "wire/connection.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/bounds.h"
#include "wire/attach.h"
#include "wire/dispatch.h"
#include "wire/frame.h"
#include "wire/relay.h"
#include "wire/wire.h"

static struct connection *connections;
static unsigned connection_count;

void connection_doom(struct connection *c) { c->doomed = true; }

int connection_release(struct connection *c) {
  int fd = c->in.fd;
  (void)loop_watch(&c->in, 0);
  c->in.fd = -1;
  connection_doom(c);
  return fd;
}

bool connection_has_room(const struct connection *c) {
  return !c->doomed && !c->closing && buffer_size(&c->outgoing) < OUTGOING_HIGH;
}

void send_frame(struct connection *c, uint8_t type, uint32_t stream, const void *head, size_t head_size, const void *body,
                size_t body_size) {
  if (c->doomed) return;
  uint8_t header[WIRE_HEADER];
  put_u32(put_u8(put_u32(header, (uint32_t)(WIRE_PREFIX + head_size + body_size)), type), stream);
  if (!buffer_reserve(&c->outgoing, WIRE_HEADER + head_size + body_size)) {
    connection_doom(c);
    return;
  }
  (void)buffer_append(&c->outgoing, header, sizeof header);
  (void)buffer_append(&c->outgoing, head, head_size);
  (void)buffer_append(&c->outgoing, body, body_size);
}

void send_ok(struct stream *s) { send_frame(s->connection, GUEST_OK, s->id, NULL, 0, NULL, 0); }

void send_credit(struct stream *s, uint32_t more) {
  uint8_t head[5];
  put_u32(put_u8(head, 0), more);
  send_frame(s->connection, GUEST_CREDIT, s->id, head, sizeof head, NULL, 0);
}

void send_error(struct connection *c, uint32_t stream, int error, const char *message) {
  uint8_t head[8];
  size_t length = strlen(message);
  put_u32(put_u32(head, (uint32_t)error), (uint32_t)length);
  send_frame(c, GUEST_ERROR, stream, head, sizeof head, message, length);
}

struct stream *stream_find(struct connection *c, uint32_t id) {
  for (struct stream *s = c->streams; s; s = s->next) {
    if (s->id == id) return s;
  }
  return NULL;
}

struct stream *stream_find_anywhere(uint32_t id) {
  struct stream *found = NULL;
  for (struct connection *c = connections; c && !found; c = c->next) found = stream_find(c, id);
  return found;
}

struct stream *stream_open(struct connection *c, uint32_t id, enum stream_kind kind) {
  struct stream *s = c->stream_count < MAX_STREAMS ? calloc(1, sizeof *s) : NULL;
  if (!s) {
    send_error(c, id, EAGAIN, "Too many streams are open on this connection");
    return NULL;
  }
  s->connection = c;
  s->id = id;
  s->kind = kind;
  s->next = c->streams;
  c->streams = s;
  c->stream_count++;
  return s;
}

void stream_close(struct stream *s) {
  struct connection *c = s->connection;
  for (struct stream **at = &c->streams; *at; at = &(*at)->next) {
    if (*at == s) {
      *at = s->next;
      break;
    }
  }
  c->stream_count--;
  if (s->process) attach_release(s);
  if (s->relay) relay_free(s->relay);
  if (s->door) door_free(s->door);
  free(s);
}

void connection_restart(struct connection *c) {
  while (c->streams) stream_close(c->streams);
  buffer_consume(&c->outgoing, buffer_size(&c->outgoing));
  c->greeted = false;
}

/* Gives every stream its turn at the room that there is, one chunk at a time. */
static void serve_streams(struct connection *c) {
  bool progress = true;
  while (progress && connection_has_room(c)) {
    progress = false;
    struct stream *next;
    for (struct stream *s = c->streams; s && connection_has_room(c); s = next) {
      next = s->next;
      if (s->kind == STREAM_PROCESS && attach_deliver(s)) progress = true;
      else if (s->kind == STREAM_RELAY) relay_resume(s->relay);
    }
  }
  /* The connection that was first becomes the last. */
  struct stream *first = c->streams;
  if (!first || !first->next) return;
  struct stream *last = first;
  while (last->next) last = last->next;
  c->streams = first->next;
  last->next = first;
  first->next = NULL;
}

/* The size of the frame at the front, 0 when it is not yet known; a wrong one dooms. */
static size_t frame_size(struct connection *c) {
  if (buffer_size(&c->received) < WIRE_HEADER) return 0;
  struct reader r = {.at = buffer_bytes(&c->received), .left = WIRE_HEADER};
  uint32_t length = read_u32(&r);
  uint8_t type = read_u8(&r);
  uint32_t limit = WIRE_PREFIX + (type == HOST_SPAWN ? WIRE_MAX_SPAWN : WIRE_MAX_PAYLOAD);
  if (length < WIRE_PREFIX || length > limit) {
    connection_doom(c);
    return 0;
  }
  return (size_t)length + 4;
}

static void take_frames(struct connection *c) {
  for (size_t size; connection_has_room(c) && (size = frame_size(c)) > 0 && buffer_size(&c->received) >= size;) {
    struct reader r = {.at = buffer_bytes(&c->received) + 4, .left = size - 4};
    uint8_t type = read_u8(&r);
    uint32_t stream = read_u32(&r);
    dispatch_frame(c, type, stream, &r);
    buffer_consume(&c->received, size);
  }
}

static void flush(struct connection *c) {
  bool was_full = !connection_has_room(c);
  while (buffer_size(&c->outgoing) > 0) {
    ssize_t written = write(c->out.fd, buffer_bytes(&c->outgoing), buffer_size(&c->outgoing));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno != EAGAIN) connection_doom(c);
    if (written < 0) break;
    buffer_consume(&c->outgoing, (size_t)written);
  }
  if (buffer_size(&c->outgoing) == 0 && c->closing) connection_doom(c);
  if (was_full && connection_has_room(c)) {
    take_frames(c);
    serve_streams(c);
  }
  if (c->doomed) return;
  if (!loop_watch(&c->out, buffer_size(&c->outgoing) > 0 ? EPOLLOUT : 0)) connection_doom(c);
  /* A host that does not read is not read from either: its requests would fill our memory with answers. */
  if (!loop_watch(&c->in, connection_has_room(c) ? EPOLLIN : 0)) connection_doom(c);
}

static void on_writable(struct watch *w, uint32_t events) {
  struct connection *c = w->owner;
  /* A serial port whose host is gone hangs up without an error. */
  if (events & (EPOLLERR | EPOLLHUP)) connection_doom(c);
  else flush(c);
}

static void on_readable(struct watch *w, uint32_t events) {
  (void)events;
  struct connection *c = w->owner;
  if (c->doomed || c->closing) return;
  size_t expected = frame_size(c);
  size_t missing = expected > buffer_size(&c->received) ? expected - buffer_size(&c->received) : 0;
  if (!buffer_reserve(&c->received, missing > CHUNK_BYTES ? missing : CHUNK_BYTES)) {
    connection_doom(c);
    return;
  }
  ssize_t count = read(c->in.fd, c->received.data + c->received.end, CHUNK_BYTES);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (count <= 0) {
    connection_doom(c);
    return;
  }
  c->received.end += (size_t)count;
  take_frames(c);
}

static struct connection *open_connection(int in_fd, int out_fd, bool last) {
  struct connection *c = connection_count < MAX_CONNECTIONS ? calloc(1, sizeof *c) : NULL;
  if (in_fd == out_fd) out_fd = fcntl(in_fd, F_DUPFD_CLOEXEC, 3);
  if (c && out_fd >= 0) {
    (void)fcntl(in_fd, F_SETFL, fcntl(in_fd, F_GETFL) | O_NONBLOCK);
    (void)fcntl(out_fd, F_SETFL, fcntl(out_fd, F_GETFL) | O_NONBLOCK);
    c->in = (struct watch){.fd = in_fd, .ready = on_readable, .owner = c};
    c->out = (struct watch){.fd = out_fd, .ready = on_writable, .owner = c};
    c->last = last;
    if (loop_watch(&c->in, EPOLLIN)) {
      c->next = connections;
      connections = c;
      connection_count++;
      return c;
    }
  }
  close(in_fd);
  if (out_fd >= 0) close(out_fd);
  free(c);
  return NULL;
}

bool connection_open(int in_fd, int out_fd, bool last) { return open_connection(in_fd, out_fd, last) != NULL; }

bool connection_open_told(int fd, const void *bytes, size_t count, void (*ended)(void *), void *owner) {
  struct connection *c = open_connection(fd, fd, false);
  if (!c) return false;
  c->ended = ended;
  c->owner = owner;
  if (!buffer_append(&c->received, bytes, count)) connection_doom(c);
  take_frames(c);
  return true;
}

void connections_settle(void) {
  for (struct connection **at = &connections; *at;) {
    struct connection *c = *at;
    if (!c->doomed) flush(c);
    if (!c->doomed) {
      at = &c->next;
      continue;
    }
    *at = c->next;
    connection_count--;
    while (c->streams) stream_close(c->streams);
    loop_close(&c->in);
    loop_close(&c->out);
    buffer_free(&c->received);
    buffer_free(&c->outgoing);
    if (c->last) loop_stop(0);
    if (c->ended) c->ended(c->owner);
    free(c);
  }
}
