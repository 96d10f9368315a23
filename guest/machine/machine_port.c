#include "machine/machine_port.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#define CLASS "/sys/class/virtio-ports"
#define TRIES 2000
#define PAUSE_NS 5000000

static bool read_name(const char *device, char *name, size_t size) {
  char path[512];
  snprintf(path, sizeof path, CLASS "/%.200s/name", device);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t length = fd < 0 ? -1 : read(fd, name, size - 1);
  if (fd >= 0) close(fd);
  if (length <= 0) return false;
  name[length] = 0;
  name[strcspn(name, "\n")] = 0;
  return true;
}

static bool find_device(const char *wanted, char *path, size_t size) {
  DIR *ports = opendir(CLASS);
  bool found = false;
  for (struct dirent *d; ports && !found && (d = readdir(ports));) {
    char name[128];
    if (d->d_name[0] == '.' || !read_name(d->d_name, name, sizeof name) || strcmp(name, wanted) != 0) continue;
    snprintf(path, size, "/dev/%.200s", d->d_name);
    found = access(path, F_OK) == 0;
  }
  if (ports) closedir(ports);
  return found;
}

int machine_port_open(const char *name) {
  char path[256];
  /* The host adds ports one by one, and nothing tells of the last. */
  for (int tries = 0; tries < TRIES; tries++) {
    if (find_device(name, path, sizeof path)) return open(path, O_RDWR | O_CLOEXEC);
    nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
  }
  errno = ENODEV;
  return -1;
}

static int waiter = -1; /* kept: a machine is thawed while it waits, and what it does first takes longest */

/* Until there is something to read, also while no host is connected. */
static void wait_for_host(int fd) {
  /* Without a host a port reports a hang-up, and an end to read, all the time; an edge comes when that changes. */
  struct epoll_event event = {.events = EPOLLIN | EPOLLET};
  if (waiter < 0) {
    waiter = epoll_create1(EPOLL_CLOEXEC);
    (void)epoll_ctl(waiter, EPOLL_CTL_ADD, fd, &event);
  }
  for (;;) {
    struct pollfd now = {.fd = fd, .events = POLLIN};
    if (poll(&now, 1, 0) > 0 && now.revents == POLLIN) break;
    (void)epoll_wait(waiter, &event, 1, -1);
  }
}

bool machine_port_line(int fd, char *line, size_t size) {
  static char buffered[4096];
  static size_t start, end;
  size_t used = 0;
  for (;;) {
    while (start < end) {
      char one = buffered[start++];
      if (one == '\n') {
        line[used] = 0;
        return true;
      }
      if (used + 1 == size) return false;
      line[used++] = one;
    }
    ssize_t count = read(fd, buffered, sizeof buffered);
    start = 0;
    end = count > 0 ? (size_t)count : 0;
    if (count > 0) continue;
    used = 0;
    wait_for_host(fd);
  }
}

void machine_port_leave(int fd) {
  if (waiter >= 0) close(waiter);
  close(fd);
}

void machine_port_say(int fd, const char *format, ...) {
  char line[512];
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(line, sizeof line - 1, format, arguments);
  va_end(arguments);
  if (length < 0) return;
  if ((size_t)length > sizeof line - 2) length = sizeof line - 2;
  line[length++] = '\n';
  /* A host that is gone does not need to know. */
  if (write(fd, line, (size_t)length) < 0) return;
}
