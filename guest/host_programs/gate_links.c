/*
 * The gate has a user of its own, who can open no socket of the host. Its keeper connects for it, to places that the daemon has named: the link `to-N` in the
 * gate's folder leads to the socket of the guest program (0), or to where the door at port N leads. The gate says a number and gets a connected socket, in the form
 * in which Node takes one from its parent. So whoever takes over a gate reaches what its order names, and nothing else. A number above all ports is a program
 * (gate_programs.c), of which it gets two sockets. One above all programs is a door that the guest program is to lend (gate_porter.c): no answer comes, but
 * connections may.
 */
#include "host_programs/gate_links.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/descriptors.h"
#include "host_programs/gate_porter.h"
#include "host_programs/gate_programs.h"

#define GUEST_PLACE 0
#define LAST_PORT 65535
#define LAST_PROGRAM 131071
#define LAST_DOOR (LAST_PROGRAM + (1UL << 31))
#define MAX_LINE 64 /* a number, or a word of Node's own that needs no answer */
#define ABOVE_PASSED 20

static int folder = -1;
static int channel = -1;
static char line[MAX_LINE];
static size_t length;

void gate_links_close(void) {
  if (channel >= 0) close(channel);
  channel = -1;
  length = 0;
  gate_programs_end();
  gate_porter_end();
}

int gate_links_descriptor(void) { return channel; }

int gate_links_open(int gate_folder) {
  int ends[2];
  gate_links_close();
  folder = gate_folder;
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return -1;
  channel = fcntl(ends[0], F_DUPFD_CLOEXEC, ABOVE_PASSED);
  int theirs = fcntl(ends[1], F_DUPFD_CLOEXEC, ABOVE_PASSED);
  close(ends[0]);
  close(ends[1]);
  if (channel < 0 && theirs >= 0) close(theirs);
  return channel < 0 ? -1 : theirs;
}

/* Through a descriptor, so that the name may be of any length. */
static int connect_to(int place) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d", place);
  /* Nobody who lets connections wait holds up the keeper: then there is an error, and the gate tries again. */
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address) == 0) return fd;
  int error = errno;
  close(fd);
  errno = error;
  return -1;
}

static int reach(unsigned number) {
  char name[16];
  char path[PATH_MAX];
  struct stat st;
  snprintf(name, sizeof name, "to-%u", number);
  ssize_t size = readlinkat(folder, name, path, sizeof path - 1);
  if (size < 0) return -1;
  path[size] = '\0';
  /* SECURITY: a guest that puts a link in its socket's place gets no connection to another socket of the host (G-02) */
  int place = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
  if (place < 0) return -1;
  bool is_socket = fstat(place, &st) == 0 && S_ISSOCK(st.st_mode);
  int fd = is_socket ? connect_to(place) : -1;
  int error = is_socket ? errno : ENOTSOCK;
  close(place);
  errno = error;
  return fd;
}

/* A gate that does not read is not waited for. */
static void answer(const char *text, int fd) { (void)descriptors_send(channel, text, strlen(text), &fd, fd >= 0 ? 1 : 0, MSG_DONTWAIT); }

static void borrow(uint32_t door) {
  int guest = reach(GUEST_PLACE);
  if (guest >= 0) (void)gate_porter_lend(guest, door, channel);
}

static void take_line(void) {
  char text[128];
  char *rest;
  line[length] = '\0';
  unsigned long number = strtoul(line, &rest, 10);
  if (line[0] < '0' || line[0] > '9' || *rest || number > LAST_DOOR) return;
  if (number > LAST_PROGRAM) {
    borrow((uint32_t)(number - LAST_PROGRAM - 1));
    return;
  }
  int fds[2] = {-1, -1};
  if (number <= LAST_PORT) fds[0] = reach((unsigned)number);
  else (void)gate_programs_start(folder, (unsigned)number, &fds[0], &fds[1]);
  if (fds[0] < 0) {
    snprintf(text, sizeof text, "{\"to\":%lu,\"errno\":%d}\n", number, errno);
    answer(text, -1);
    return;
  }
  snprintf(text, sizeof text, "{\"cmd\":\"NODE_HANDLE\",\"type\":\"net.Socket\",\"msg\":{\"to\":%lu}}\n", number);
  for (int i = 0; i < 2 && fds[i] >= 0; i++) {
    answer(text, fds[i]);
    close(fds[i]);
  }
}

void gate_links_serve(void) {
  char bytes[1024];
  ssize_t count = recv(channel, bytes, sizeof bytes, MSG_DONTWAIT);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (count <= 0) {
    gate_links_close();
    return;
  }
  for (ssize_t i = 0; i < count; i++) {
    if (bytes[i] == '\n') {
      /* One that was too long is none of ours. */
      if (length < sizeof line - 1) take_line();
      length = 0;
    } else if (length < sizeof line - 1) {
      line[length++] = bytes[i];
    }
  }
}
