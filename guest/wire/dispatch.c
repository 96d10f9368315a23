#include "wire/dispatch.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/bounds.h"
#include "commands/input.h"
#include "commands/lifecycle.h"
#include "commands/process.h"
#include "commands/spawn.h"
#include "init/shutdown.h"
#include "wire/attach.h"
#include "wire/conduit.h"
#include "wire/relay.h"
#include "wire/wire.h"

struct identity identity;

/* Whether the host can open another one beside it: not on a serial port, nor where one was all that was given. */
static bool is_one_of_many(const struct connection *c) { return !c->ended && !c->last; }

static void greet(struct connection *c, uint32_t stream, struct reader *r) {
  uint32_t magic = read_u32(r);
  uint16_t version = read_u16(r);
  (void)read_u16(r);
  if (!read_finished(r) || stream != 0 || magic != WIRE_MAGIC) {
    connection_doom(c);
    return;
  }
  uint8_t head[28];
  uint16_t flags = identity.flags | (is_one_of_many(c) ? HELLO_CONDUITS : 0);
  uint8_t *at = put_u16(put_u16(put_u32(head, WIRE_MAGIC), WIRE_VERSION), flags);
  memcpy(put_u32(at, (uint32_t)getpid()), identity.boot_id, sizeof identity.boot_id);
  send_frame(c, GUEST_HELLO, 0, head, sizeof head, NULL, 0);
  c->greeted = true;
  if (version != WIRE_VERSION) c->closing = true;
}

/* Instead of HELLO: from here on this connection carries, without frames, what a door has let in. */
static void on_take(struct connection *c, struct reader *r) {
  uint32_t magic = read_u32(r);
  uint16_t version = read_u16(r);
  struct stream *s = stream_find_anywhere(read_u32(r));
  int socket = read_finished(r) && magic == WIRE_MAGIC && version == WIRE_VERSION && is_one_of_many(c) && s && s->relay ? relay_release(s->relay) : -1;
  if (socket < 0) {
    connection_doom(c);
    return;
  }
  const uint8_t *rest = r->at;
  size_t count = (size_t)(c->received.data + c->received.end - rest);
  stream_close(s);
  (void)conduit_open(connection_release(c), socket, rest, count);
}

/* Instead of HELLO: nothing else comes on this connection, and its end gives the door back. */
static void on_lend(struct connection *c, struct reader *r) {
  uint32_t magic = read_u32(r);
  uint16_t version = read_u16(r);
  uint16_t port = read_u16(r);
  bool fits = read_finished(r) && magic == WIRE_MAGIC && version == WIRE_VERSION && is_one_of_many(c);
  if (!fits || !door_lend(c, port)) connection_doom(c);
}

static void on_data(struct stream *s, struct reader *r) {
  if (read_u8(r) != 0 || r->bad) {
    connection_doom(s->connection);
    return;
  }
  /* More than was allowed would be more than there is room for. */
  if (r->left > s->credit[0]) {
    connection_doom(s->connection);
    return;
  }
  s->credit[0] -= r->left;
  if (s->kind == STREAM_PROCESS) input_data(s, r->at, r->left);
  else relay_data(s->relay, r->at, r->left);
}

static void on_end(struct stream *s, struct reader *r) {
  uint8_t channel = read_u8(r);
  if (!read_finished(r) || channel != 0) connection_doom(s->connection);
  else if (s->kind == STREAM_PROCESS) input_end(s->process);
  else relay_end(s->relay);
}

static void on_credit(struct stream *s, struct reader *r) {
  uint8_t channel = read_u8(r);
  uint32_t more = read_u32(r);
  if (!read_finished(r) || channel < 1 || channel > 2) {
    connection_doom(s->connection);
    return;
  }
  s->credit[channel] += more;
  if (s->kind == STREAM_PROCESS) attach_resume(s);
  else relay_resume(s->relay);
}

static void on_signal(struct stream *s, struct reader *r) {
  uint8_t number = read_u8(r);
  uint8_t scope = read_u8(r);
  if (!read_finished(r) || number < 1 || number > 64 || scope > SCOPE_DESCENDANTS) connection_doom(s->connection);
  else process_signal(s->process, number, scope);
}

static void on_resize(struct stream *s, struct reader *r) {
  uint16_t cols = read_u16(r);
  uint16_t rows = read_u16(r);
  if (!read_finished(r)) connection_doom(s->connection);
  else process_resize(s->process, cols, rows);
}

static void on_datagram(struct stream *s, struct reader *r) {
  uint32_t address = read_u32(r);
  uint16_t port = read_u16(r);
  if (r->bad || !door_datagram(s->door, address, port, r->at, r->left)) connection_doom(s->connection);
}

/* Frames on a stream that is open. One that ended while the frame was on its way is no error. */
static void on_stream(struct connection *c, uint8_t type, uint32_t stream, struct reader *r) {
  struct stream *s = stream_find(c, stream);
  if (!s) return;
  bool follows = s->kind == STREAM_PROCESS || s->kind == STREAM_WATCH;
  bool carries = s->kind == STREAM_PROCESS || s->kind == STREAM_RELAY;
  if (type == HOST_DETACH && read_finished(r)) stream_close(s);
  else if (type == HOST_DATA && carries) on_data(s, r);
  else if (type == HOST_END && carries) on_end(s, r);
  else if (type == HOST_CREDIT && carries) on_credit(s, r);
  else if (type == HOST_SIGNAL && follows) on_signal(s, r);
  else if (type == HOST_RESIZE && s->kind == STREAM_PROCESS) on_resize(s, r);
  else if (type == HOST_DATAGRAM && s->kind == STREAM_DOOR) on_datagram(s, r);
  else connection_doom(c);
}

static void on_attach(struct connection *c, uint32_t stream, struct reader *r) {
  uint32_t id = read_u32(r);
  uint64_t out = read_u64(r);
  uint64_t err = read_u64(r);
  uint32_t credit = read_u32(r);
  if (!read_finished(r)) {
    connection_doom(c);
    return;
  }
  struct process *p = process_find(id);
  if (!p || p->forgotten) {
    send_error(c, stream, ESRCH, "No such process");
    return;
  }
  struct stream *s = stream_open(c, stream, credit > 0 ? STREAM_PROCESS : STREAM_WATCH);
  if (!s) return;
  if (s->kind == STREAM_WATCH) {
    attach_watcher(s, p);
    return;
  }
  s->offset[1] = out;
  s->offset[2] = err;
  s->credit[1] = s->credit[2] = credit;
  attach_stream(s, p);
}

static void on_forget(struct connection *c, uint32_t stream, struct reader *r) {
  struct process *p = process_find(read_u32(r));
  if (!read_finished(r)) {
    connection_doom(c);
    return;
  }
  if (!p) {
    send_error(c, stream, ESRCH, "No such process");
    return;
  }
  struct stream *s = stream_open(c, stream, STREAM_FORGET);
  if (!s) return;
  attach_waiter(s, p);
  process_forget(p);
}

/* Also for what a command that has ended left behind: its shim is there as long as that is. */
static void on_signal_tree(struct connection *c, uint32_t stream, struct reader *r) {
  struct process *p = process_find(read_u32(r));
  uint8_t number = read_u8(r);
  if (!read_finished(r) || number < 1 || number > 64) {
    connection_doom(c);
    return;
  }
  if (!p || p->forgotten) {
    send_error(c, stream, ESRCH, "No such process");
    return;
  }
  struct stream *s = stream_open(c, stream, STREAM_SWEEP);
  if (!s) return;
  attach_waiter(s, p);
  process_signal(p, number, SCOPE_DESCENDANTS);
  if (number == SIGKILL) return; /* answered when nothing is left */
  send_ok(s);
  stream_close(s);
}

static void on_relay(struct connection *c, uint8_t type, uint32_t stream, struct reader *r) {
  uint16_t port = read_u16(r);
  uint32_t credit = type == HOST_CONNECT ? read_u32(r) : 0;
  uint8_t kind = type == HOST_LISTEN && r->left > 0 ? read_u8(r) : DOOR_PORT;
  if (!read_finished(r) || kind > DOOR_DATAGRAMS) connection_doom(c);
  else if (type == HOST_CONNECT) relay_connect(c, stream, port, credit);
  else door_open(c, stream, port, (enum door_kind)kind);
}

/* Frames that open a stream. */
static void on_opening(struct connection *c, uint8_t type, uint32_t stream, struct reader *r) {
  if (stream == 0 || stream & WIRE_GUEST_STREAM || stream_find(c, stream)) connection_doom(c);
  else if (type == HOST_SPAWN) spawn_request(c, stream, r);
  else if (type == HOST_ATTACH) on_attach(c, stream, r);
  else if (type == HOST_FORGET) on_forget(c, stream, r);
  else if (type == HOST_SIGNAL_TREE) on_signal_tree(c, stream, r);
  else if (type == HOST_PROCESSES && read_finished(r)) process_list(c, stream);
  else if (type == HOST_CONNECT || type == HOST_LISTEN) on_relay(c, type, stream, r);
  else connection_doom(c);
}

void dispatch_frame(struct connection *c, uint8_t type, uint32_t stream, struct reader *r) {
  if (!c->greeted && type == HOST_TAKE && stream == 0) {
    on_take(c, r);
    return;
  }
  if (!c->greeted && type == HOST_LEND && stream == 0) {
    on_lend(c, r);
    return;
  }
  if (!c->greeted && type != HOST_HELLO) {
    connection_doom(c);
    return;
  }
  switch (type) {
    case HOST_HELLO:
      /* A serial port has no new connections, only a new host that begins anew. */
      if (c->greeted && c->ended) connection_restart(c);
      if (c->greeted) connection_doom(c);
      else greet(c, stream, r);
      return;
    case HOST_PING:
      if (stream != 0 || r->left != 8) connection_doom(c);
      else send_frame(c, GUEST_PONG, 0, r->at, 8, NULL, 0);
      return;
    case HOST_SHUTDOWN:
      if (stream != 0 || r->left != 0) connection_doom(c);
      else shutdown_begin();
      return;
    case HOST_DATA:
    case HOST_END:
    case HOST_CREDIT:
    case HOST_SIGNAL:
    case HOST_RESIZE:
    case HOST_DETACH:
    case HOST_DATAGRAM:
      on_stream(c, type, stream, r);
      return;
    default:
      on_opening(c, type, stream, r);
  }
}
