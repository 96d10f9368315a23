#include "wire/relay.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/bounds.h"
#include "wire/frame.h"
#include "wire/wire.h"

struct relay {
  struct stream *stream;
  struct watch watch;
  struct buffer to_socket;
  bool connecting;
  bool host_ended;   /* END came; the socket is shut once `to_socket` is written */
  bool shut;
  bool socket_ended; /* END was sent */
};

/* Ends the stream with an error; the relay is gone after. */
static void fail(struct relay *relay, int error) {
  struct stream *s = relay->stream;
  send_error(s->connection, s->id, error, strerror(error));
  stream_close(s);
}

static void grant(struct relay *relay) {
  struct stream *s = relay->stream;
  size_t held = buffer_size(&relay->to_socket);
  uint64_t target = held < INPUT_WINDOW ? INPUT_WINDOW - held : 0;
  if (relay->host_ended || target < s->credit[0] + INPUT_WINDOW / 4) return;
  send_credit(s, (uint32_t)(target - s->credit[0]));
  s->credit[0] = target;
}

/* Waits for what can be done now; false, with everything gone, when waiting is impossible. */
static bool rearm(struct relay *relay) {
  struct stream *s = relay->stream;
  uint32_t events = 0;
  if (relay->connecting || buffer_size(&relay->to_socket) > 0) events |= EPOLLOUT;
  bool wants = s->credit[1] > 0 && connection_has_room(s->connection);
  if (!relay->connecting && !relay->socket_ended && wants) events |= EPOLLIN;
  if (loop_watch(&relay->watch, events)) return true;
  fail(relay, ENOMEM);
  return false;
}

/* Once both sides have ended there is nothing more to carry. */
static void close_if_done(struct relay *relay) {
  if (relay->shut && relay->socket_ended) stream_close(relay->stream);
  else (void)rearm(relay);
}

/* False when the relay failed and is gone. */
static bool pump_to_socket(struct relay *relay) {
  while (buffer_size(&relay->to_socket) > 0) {
    size_t size = buffer_size(&relay->to_socket);
    ssize_t written = send(relay->watch.fd, buffer_bytes(&relay->to_socket), size, MSG_NOSIGNAL);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno == EAGAIN) break;
    if (written < 0) {
      fail(relay, errno);
      return false;
    }
    buffer_consume(&relay->to_socket, (size_t)written);
  }
  if (relay->host_ended && !relay->shut && buffer_size(&relay->to_socket) == 0) {
    (void)shutdown(relay->watch.fd, SHUT_WR);
    relay->shut = true;
  }
  grant(relay);
  return true;
}

/* False when the relay failed and is gone. */
static bool pump_from_socket(struct relay *relay) {
  static uint8_t scratch[CHUNK_BYTES];
  struct stream *s = relay->stream;
  if (relay->socket_ended || s->credit[1] == 0 || !connection_has_room(s->connection)) return true;
  size_t limit = s->credit[1] < CHUNK_BYTES ? (size_t)s->credit[1] : CHUNK_BYTES;
  ssize_t count = recv(relay->watch.fd, scratch, limit, 0);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return true;
  if (count < 0) {
    fail(relay, errno);
    return false;
  }
  uint8_t head[9];
  put_u64(put_u8(head, 1), s->offset[1]);
  relay->socket_ended = count == 0;
  send_frame(s->connection, count ? GUEST_DATA : GUEST_END, s->id, head, sizeof head, scratch, (size_t)count);
  s->offset[1] += (uint64_t)count;
  s->credit[1] -= (uint64_t)count;
  return true;
}

static void on_ready(struct watch *w, uint32_t events) {
  struct relay *relay = w->owner;
  if (relay->connecting) {
    int error = 0;
    socklen_t size = sizeof error;
    if (getsockopt(w->fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0) error = errno;
    if (error) {
      fail(relay, error);
      return;
    }
    relay->connecting = false;
    send_ok(relay->stream);
    grant(relay);
  }
  if (events & EPOLLOUT && !pump_to_socket(relay)) return;
  if (events & (EPOLLIN | EPOLLHUP | EPOLLERR) && !pump_from_socket(relay)) return;
  close_if_done(relay);
}

struct relay *relay_adopt(struct stream *s, int fd) {
  struct relay *relay = calloc(1, sizeof *relay);
  if (!relay) {
    close(fd);
    return NULL;
  }
  /* What comes is sent on as it comes: the kernel would hold a small piece back until the one before is acknowledged, which readers put off for 40 ms. */
  int on = 1;
  (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  relay->stream = s;
  relay->watch = (struct watch){.fd = fd, .ready = on_ready, .owner = relay};
  s->relay = relay;
  return relay;
}

void relay_connect(struct connection *c, uint32_t stream, uint16_t port, uint32_t credit) {
  struct sockaddr_in address = {
      .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  struct stream *s = stream_open(c, stream, STREAM_RELAY);
  if (!s) return;
  s->credit[1] = credit;
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  struct relay *relay = fd < 0 ? NULL : relay_adopt(s, fd);
  if (!relay) {
    send_error(c, stream, fd < 0 ? errno : ENOMEM, "Cannot make a socket");
    stream_close(s);
    return;
  }
  relay->connecting = true;
  if (connect(fd, (const struct sockaddr *)&address, sizeof address) != 0 && errno != EINPROGRESS) fail(relay, errno);
  else (void)rearm(relay);
}

void relay_data(struct relay *relay, const uint8_t *bytes, size_t count) {
  if (relay->host_ended) return;
  if (!buffer_append(&relay->to_socket, bytes, count)) {
    connection_doom(relay->stream->connection);
    return;
  }
  if (!relay->connecting && !pump_to_socket(relay)) return;
  close_if_done(relay);
}

void relay_end(struct relay *relay) {
  relay->host_ended = true;
  if (!relay->connecting && !pump_to_socket(relay)) return;
  close_if_done(relay);
}

void relay_resume(struct relay *relay) {
  grant(relay);
  (void)rearm(relay);
}

int relay_release(struct relay *relay) {
  int fd = relay->watch.fd;
  bool is_new = !relay->connecting && !relay->host_ended && relay->stream->offset[1] == 0 && buffer_size(&relay->to_socket) == 0;
  if (!is_new || !loop_watch(&relay->watch, 0)) return -1;
  relay->watch.fd = -1;
  return fd;
}

void relay_free(struct relay *relay) {
  loop_close(&relay->watch);
  buffer_free(&relay->to_socket);
  free(relay);
}
