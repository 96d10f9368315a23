#include "machine/machine_roots.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/descriptors.h"
#include "base/loop.h"
#include "init/roots.h"

#define MOST (MACHINE_FOLDERS + MAX_LAYERS)

union control {
  struct cmsghdr head;
  char space[CMSG_SPACE(sizeof(int) * MOST)];
};

static struct watch source = {.fd = -1};
static void (*on_renewed)(void);

bool machine_roots_send(int socket, const int *folders, size_t count) {
  char byte = 'r';
  return descriptors_send(socket, &byte, 1, folders, count, 0) && read(socket, &byte, 1) == 1;
}

static void take(const int *folders, size_t count) {
  static const enum root_number order[MACHINE_FOLDERS] = {ROOT_WORKSPACE, ROOT_UPPER, ROOT_BASELINE};
  for (size_t i = 0; i < MACHINE_FOLDERS; i++) {
    if (roots[order[i]].fd >= 0) close(roots[order[i]].fd);
    roots[order[i]].fd = folders[i];
  }
  while (layer_count > 0) close(layer_fds[--layer_count]);
  for (size_t i = MACHINE_FOLDERS; i < count; i++) layer_fds[layer_count++] = folders[i];
}

static bool receive(int socket, int flags) {
  union control control;
  char byte;
  struct iovec content = {.iov_base = &byte, .iov_len = 1};
  struct msghdr message = {.msg_iov = &content, .msg_iovlen = 1, .msg_control = control.space, .msg_controllen = sizeof control.space};
  if (recvmsg(socket, &message, flags | MSG_CMSG_CLOEXEC) != 1) return false;
  struct cmsghdr *head = CMSG_FIRSTHDR(&message);
  int folders[MOST];
  size_t count = head ? (head->cmsg_len - CMSG_LEN(0)) / sizeof(int) : 0;
  if (count > 0) memcpy(folders, CMSG_DATA(head), sizeof(int) * count);
  if (count >= MACHINE_FOLDERS) take(folders, count);
  on_renewed();
  return write(socket, &byte, 1) == 1;
}

static void on_ready(struct watch *w, uint32_t events) {
  (void)events;
  if (!receive(w->fd, MSG_DONTWAIT) && errno != EAGAIN) loop_close(w);
}

bool machine_roots_receive(int socket, void (*renewed)(void)) {
  on_renewed = renewed;
  source = (struct watch){.fd = socket, .ready = on_ready};
  return fcntl(socket, F_SETFD, FD_CLOEXEC) == 0 && receive(socket, 0);
}

bool machine_roots_watch(void) { return source.fd < 0 || loop_watch(&source, EPOLLIN); }
