#include "wire/bridge.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/bounds.h"
#include "base/complain.h"

struct direction {
  int from;
  int to;
  bool ended;
  size_t start;
  size_t end;
  char bytes[CHUNK_BYTES];
};

static int connect_to(const char *path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (strlen(path) >= sizeof address.sun_path) {
    errno = ENAMETOOLONG;
    return -1;
  }
  memcpy(address.sun_path, path, strlen(path) + 1);
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd >= 0 && connect(fd, (const struct sockaddr *)&address, sizeof address) == 0) return fd;
  return -1;
}

static void end(struct direction *d) {
  d->ended = true;
  if (shutdown(d->to, SHUT_WR) != 0) close(d->to);
}

/* One read or one write, whichever is next; after poll said that it will not block for long. */
static void move(struct direction *d) {
  if (d->start == d->end) {
    ssize_t count = read(d->from, d->bytes, sizeof d->bytes);
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) return;
    if (count <= 0) {
      end(d);
      return;
    }
    d->start = 0;
    d->end = (size_t)count;
  }
  /* Neither side is made non-blocking: stdin and stdout may be shared with others who would be surprised. */
  ssize_t written = write(d->to, d->bytes + d->start, d->end - d->start);
  if (written < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (written < 0) end(d);
  else d->start += (size_t)written;
}

int bridge_main(int argc, char **argv) {
  static struct direction up;
  static struct direction down;
  if (argc != 3 || strcmp(argv[1], "--socket") != 0) {
    complain("Usage: cloche-guest bridge --socket PATH");
    return 2;
  }
  signal(SIGPIPE, SIG_IGN);
  int fd = connect_to(argv[2]);
  if (fd < 0) {
    complain("Cannot connect to \"%s\": %s", argv[2], strerror(errno));
    return 1;
  }
  up.from = STDIN_FILENO;
  up.to = fd;
  down.from = fd;
  down.to = STDOUT_FILENO;
  /* Once the guest program has ended its side, nothing that comes from stdin can arrive. */
  while (!down.ended) {
    struct direction *both[2] = {&up, &down};
    struct pollfd polled[2];
    for (int i = 0; i < 2; i++) {
      bool holds = both[i]->start < both[i]->end;
      polled[i] = (struct pollfd){.fd = both[i]->ended ? -1 : holds ? both[i]->to : both[i]->from,
                                  .events = holds ? POLLOUT : POLLIN};
    }
    if (poll(polled, 2, -1) < 0 && errno != EINTR) return 1;
    for (int i = 0; i < 2; i++) {
      if (polled[i].revents) move(both[i]);
    }
  }
  return 0;
}
