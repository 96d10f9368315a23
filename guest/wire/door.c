#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/bounds.h"
#include "base/descriptors.h"
#include "wire/frame.h"
#include "wire/relay.h"
#include "wire/wire.h"

#define BACKLOG 128

struct door {
  struct stream *stream;
  struct watch watch;
  struct timer pause;
  enum door_kind kind;
  uint16_t port;
  struct connection *borrower; /* who takes what connects, as long as that is there */
  struct door *next;
};

static struct door *doors;

static uint32_t new_stream_id(void) {
  static uint32_t last;
  uint32_t id;
  do {
    id = WIRE_GUEST_STREAM | (++last & ~WIRE_GUEST_STREAM);
  } while (stream_find_anywhere(id));
  return id;
}

/* The address of the sandbox that was connected to, for the host to know which of its names was meant. */
static uint32_t own_address(int fd) {
  struct sockaddr_in address = {0};
  socklen_t size = sizeof address;
  return getsockname(fd, (struct sockaddr *)&address, &size) == 0 ? ntohl(address.sin_addr.s_addr) : 0;
}

static void let_in(struct door *door, int fd) {
  struct connection *c = door->stream->connection;
  uint32_t address = door->kind == DOOR_ADDRESSES ? own_address(fd) : 0;
  struct stream *s = c->stream_count < MAX_STREAMS ? stream_open(c, new_stream_id(), STREAM_RELAY) : NULL;
  if (!s) {
    close(fd);
    return;
  }
  struct relay *relay = relay_adopt(s, fd);
  if (!relay) {
    stream_close(s);
    return;
  }
  uint8_t head[8];
  put_u32(put_u32(head, s->id), address);
  send_frame(c, GUEST_INCOMING, door->stream->id, head, door->kind == DOOR_ADDRESSES ? 8 : 4, NULL, 0);
  relay_resume(relay);
}

static void on_ready(struct watch *w, uint32_t events) {
  (void)events;
  struct door *door = w->owner;
  int fd = accept4(w->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (fd >= 0) {
    let_in(door, fd);
    return;
  }
  if (errno != EMFILE && errno != ENFILE && errno != ENOMEM && errno != ENOBUFS) return;
  /* While there is no descriptor for it, a waiting connection would be reported again and again. */
  (void)loop_watch(w, 0);
  timer_set(&door->pause, ACCEPT_PAUSE_MS);
}

static void on_pause_over(struct timer *t) {
  struct door *door = t->owner;
  if (!loop_watch(&door->watch, EPOLLIN)) timer_set(t, ACCEPT_PAUSE_MS);
}

static void on_question(struct watch *w, uint32_t events) {
  (void)events;
  static uint8_t bytes[MAX_DATAGRAM];
  struct door *door = w->owner;
  struct connection *c = door->stream->connection;
  struct sockaddr_in from = {0};
  socklen_t size = sizeof from;
  ssize_t count = recvfrom(w->fd, bytes, sizeof bytes, MSG_TRUNC, (struct sockaddr *)&from, &size);
  /* SECURITY: datagrams may be lost, so those that nobody has room for are (G-43) */
  if (count < 0 || (size_t)count > sizeof bytes || from.sin_family != AF_INET || !connection_has_room(c)) return;
  uint8_t head[6];
  put_u16(put_u32(head, ntohl(from.sin_addr.s_addr)), ntohs(from.sin_port));
  send_frame(c, GUEST_DATAGRAM, door->stream->id, head, sizeof head, bytes, (size_t)count);
}

bool door_datagram(struct door *door, uint32_t address, uint16_t port, const uint8_t *bytes, size_t count) {
  struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(address)};
  if (door->kind != DOOR_DATAGRAMS) return false;
  (void)sendto(door->watch.fd, bytes, count, MSG_NOSIGNAL, (const struct sockaddr *)&to, sizeof to);
  return true;
}

static int listen_on(uint16_t port, enum door_kind kind) {
  uint32_t at = kind == DOOR_ADDRESSES ? INADDR_ANY : INADDR_LOOPBACK;
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(at)};
  int type = kind == DOOR_DATAGRAMS ? SOCK_DGRAM : SOCK_STREAM;
  int yes = 1;
  int fd = socket(AF_INET, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return -1;
  if (type == SOCK_STREAM) (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  bool bound = bind(fd, (const struct sockaddr *)&address, sizeof address) == 0;
  if (bound && (type == SOCK_DGRAM || listen(fd, BACKLOG) == 0)) return fd;
  int error = errno;
  close(fd);
  errno = error;
  return -1;
}

void door_open(struct connection *c, uint32_t stream, uint16_t port, enum door_kind kind) {
  struct stream *s = stream_open(c, stream, STREAM_DOOR);
  if (!s) return;
  int fd = listen_on(port, kind);
  int error = errno;
  struct door *door = fd < 0 ? NULL : calloc(1, sizeof *door);
  if (door) {
    door->stream = s;
    door->kind = kind;
    door->port = port;
    door->next = doors;
    doors = door;
    door->watch = (struct watch){.fd = fd, .ready = kind == DOOR_DATAGRAMS ? on_question : on_ready, .owner = door};
    door->pause = (struct timer){.fire = on_pause_over, .owner = door};
    s->door = door;
    if (loop_watch(&door->watch, EPOLLIN)) {
      send_ok(s);
      return;
    }
  } else if (fd >= 0) {
    close(fd);
  }
  if (fd >= 0) error = ENOMEM;
  send_error(c, stream, error, strerror(error));
  stream_close(s);
}

/* The host has let go of it. */
static void take_back(void *owner) {
  struct door *door = owner;
  door->borrower = NULL;
  if (!loop_watch(&door->watch, EPOLLIN)) timer_set(&door->pause, ACCEPT_PAUSE_MS);
}

static bool is_unix_socket(int fd) {
  int domain = 0;
  socklen_t size = sizeof domain;
  return getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 && domain == AF_UNIX;
}

/* A message of its own, before anything else is sent on that connection. */
static bool send_lent(int to, int fd) {
  uint8_t ok[WIRE_HEADER];
  put_u32(put_u8(put_u32(ok, WIRE_PREFIX), GUEST_OK), 0);
  return descriptors_send(to, ok, sizeof ok, &fd, 1, MSG_DONTWAIT);
}

bool door_lend(struct connection *c, uint16_t port) {
  struct door *door = doors;
  while (door && (door->port != port || door->kind == DOOR_DATAGRAMS)) door = door->next;
  if (!door || door->borrower || !is_unix_socket(c->out.fd) || !send_lent(c->out.fd, door->watch.fd)) return false;
  timer_clear(&door->pause);
  (void)loop_watch(&door->watch, 0);
  door->borrower = c;
  c->ended = take_back;
  c->owner = door;
  return true;
}

void door_free(struct door *door) {
  struct door **at = &doors;
  while (*at && *at != door) at = &(*at)->next;
  if (*at) *at = door->next;
  if (door->borrower) {
    /* Who holds the socket still does not keep the port. */
    (void)shutdown(door->watch.fd, SHUT_RDWR);
    door->borrower->ended = NULL;
    connection_doom(door->borrower);
  }
  timer_clear(&door->pause);
  loop_close(&door->watch);
  free(door);
}
