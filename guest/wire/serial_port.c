#include "wire/serial_port.h"

#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/bounds.h"
#include "base/loop.h"
#include "wire/connection.h"

#define EARLY_BYTES 4096

struct serial_port {
  struct watch watch;
  char early[EARLY_BYTES]; /* what a host has said before the port knew that there is one */
  size_t early_count;
};

static struct serial_port ports[MAX_SERIAL_PORTS];
static size_t port_count;

/* A port without a host hangs up all the time, so it is waited for by edges; the port itself says what has changed. */
static void wait_for_host(void *owner) {
  struct serial_port *port = owner;
  (void)loop_watch(&port->watch, EPOLLIN | EPOLLOUT | EPOLLET);
}

static void on_ready(struct watch *w, uint32_t events) {
  struct serial_port *port = w->owner;
  struct pollfd now = {.fd = w->fd, .events = POLLIN | POLLOUT};
  (void)events;
  if (poll(&now, 1, 0) <= 0) return;
  if (now.revents & POLLHUP) {
    ssize_t count = read(w->fd, port->early + port->early_count, sizeof port->early - port->early_count);
    if (count > 0) port->early_count += (size_t)count;
    /* It may have become known between the two. */
    if (poll(&now, 1, 0) <= 0 || now.revents & POLLHUP) return;
  }
  if (!(now.revents & POLLIN) && port->early_count == 0) return;
  /* The port stays open: it can be opened only once. */
  int fd = fcntl(w->fd, F_DUPFD_CLOEXEC, 3);
  if (fd < 0) return;
  (void)loop_watch(w, 0);
  size_t count = port->early_count;
  port->early_count = 0;
  if (!connection_open_told(fd, port->early, count, wait_for_host, port)) wait_for_host(port);
}

bool serial_port_adopt(int fd) {
  if (port_count == MAX_SERIAL_PORTS || fcntl(fd, F_SETFD, FD_CLOEXEC) != 0) return false;
  struct serial_port *port = &ports[port_count++];
  (void)fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
  port->watch = (struct watch){.fd = fd, .ready = on_ready, .owner = port};
  return loop_watch(&port->watch, EPOLLIN | EPOLLOUT | EPOLLET);
}
