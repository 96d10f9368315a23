#include "wire/listener.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/bounds.h"
#include "base/complain.h"
#include "base/loop.h"
#include "commands/descendants.h"
#include "wire/connection.h"

static struct watch listener = {.fd = -1};
static struct timer pause_timer;

/* SECURITY: a command that finds the socket and may open it still does not get to speak as the host (G-08) */
static bool is_command(int fd) {
  struct ucred peer;
  socklen_t size = sizeof peer;
  if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return false;
  /* Somebody outside of our pid namespace has no number here; gVisor gives them ours. */
  return peer.pid > 0 && peer.pid != getpid() && descendants_include(peer.pid);
}

static void on_ready(struct watch *w, uint32_t events) {
  (void)events;
  int fd = accept4(w->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (fd >= 0) {
    if (is_command(fd)) close(fd);
    else (void)connection_open(fd, fd, false);
    return;
  }
  if (errno != EMFILE && errno != ENFILE && errno != ENOMEM && errno != ENOBUFS) return;
  (void)loop_watch(w, 0);
  timer_set(&pause_timer, ACCEPT_PAUSE_MS);
}

static void on_pause_over(struct timer *t) {
  if (!loop_watch(&listener, EPOLLIN)) timer_set(t, ACCEPT_PAUSE_MS);
}

static bool watch_listener(int fd) {
  (void)fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
  listener = (struct watch){.fd = fd, .ready = on_ready};
  pause_timer = (struct timer){.fire = on_pause_over};
  return loop_watch(&listener, EPOLLIN);
}

bool listener_adopt(int fd) {
  int accepting = 0;
  socklen_t size = sizeof accepting;
  if (fcntl(fd, F_SETFD, FD_CLOEXEC) != 0) {
    complain("Cannot use descriptor %d: %s", fd, strerror(errno));
    return false;
  }
  if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &accepting, &size) != 0 || !accepting) return connection_open(fd, fd, true);
  return watch_listener(fd);
}

/* A socket has its name before it listens; this file beside it tells the host that it does. */
static bool announce(const char *path) {
  char ready[sizeof((struct sockaddr_un *)0)->sun_path + sizeof ".ready"];
  (void)snprintf(ready, sizeof ready, "%s.ready", path);
  int fd = open(ready, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  return fd >= 0 && close(fd) == 0;
}

int listener_open(const char *path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (strlen(path) >= sizeof address.sun_path) {
    complain("Cannot listen on \"%s\": the path is too long", path);
    return -1;
  }
  memcpy(address.sun_path, path, strlen(path) + 1);
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  mode_t before = umask(0177);
  bool bound = fd >= 0 && bind(fd, (const struct sockaddr *)&address, sizeof address) == 0 && listen(fd, SOMAXCONN) == 0 && announce(path);
  int error = errno;
  umask(before);
  if (bound) return fd;
  complain("Cannot listen on \"%s\": %s", path, strerror(error));
  return -1;
}

bool listener_bind(const char *path) {
  int fd = listener_open(path);
  return fd >= 0 && watch_listener(fd);
}
