#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/bounds.h"
#include "wire/frame.h"
#include "wire/relay.h"
#include "wire/wire.h"

#define BACKLOG 128

struct door {
  struct stream *stream;
  struct watch watch;
  struct timer pause;
};

static uint32_t new_stream_id(struct connection *c) {
  uint32_t id;
  do {
    id = WIRE_GUEST_STREAM | (++c->next_guest_stream & ~WIRE_GUEST_STREAM);
  } while (stream_find(c, id));
  return id;
}

static void let_in(struct door *door, int fd) {
  struct connection *c = door->stream->connection;
  struct stream *s = c->stream_count < MAX_STREAMS ? stream_open(c, new_stream_id(c), STREAM_RELAY) : NULL;
  if (!s) {
    close(fd);
    return;
  }
  struct relay *relay = relay_adopt(s, fd);
  if (!relay) {
    stream_close(s);
    return;
  }
  uint8_t head[4];
  put_u32(head, s->id);
  send_frame(c, GUEST_INCOMING, door->stream->id, head, sizeof head, NULL, 0);
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

static int listen_on(uint16_t port) {
  struct sockaddr_in address = {
      .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  int yes = 1;
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return -1;
  (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (bind(fd, (const struct sockaddr *)&address, sizeof address) == 0 && listen(fd, BACKLOG) == 0) return fd;
  int error = errno;
  close(fd);
  errno = error;
  return -1;
}

void door_open(struct connection *c, uint32_t stream, uint16_t port) {
  struct stream *s = stream_open(c, stream, STREAM_DOOR);
  if (!s) return;
  int fd = listen_on(port);
  int error = errno;
  struct door *door = fd < 0 ? NULL : calloc(1, sizeof *door);
  if (door) {
    door->stream = s;
    door->watch = (struct watch){.fd = fd, .ready = on_ready, .owner = door};
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

void door_free(struct door *door) {
  timer_clear(&door->pause);
  loop_close(&door->watch);
  free(door);
}
