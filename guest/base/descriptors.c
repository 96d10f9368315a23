#include "base/descriptors.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MAX_KEPT 128
#define MAX_SENT 253 /* of the kernel */
#define ABOVE 128 /* parking numbers, above every target */

static void close_from(int first) {
#ifdef SYS_close_range
  if (syscall(SYS_close_range, (unsigned)first, ~0u, 0u) == 0) return;
#endif
  DIR *open_fds = opendir("/proc/self/fd");
  if (!open_fds) {
    for (int fd = first; fd < 65536; fd++) close(fd);
    return;
  }
  int own = dirfd(open_fds);
  for (struct dirent *d; (d = readdir(open_fds));) {
    int fd = (int)strtol(d->d_name, NULL, 10);
    if (fd >= first && fd != own) close(fd);
  }
  closedir(open_fds);
}

bool descriptors_keep(const int *fds, size_t count, int first) {
  int parked[MAX_KEPT];
  if (count > MAX_KEPT) {
    errno = EINVAL;
    return false;
  }
  for (size_t i = 0; i < count; i++) {
    parked[i] = fds[i] < 0 ? -1 : fcntl(fds[i], F_DUPFD_CLOEXEC, ABOVE);
    if (fds[i] >= 0 && parked[i] < 0) return false;
  }
  for (size_t i = 0; i < count; i++) {
    int target = first + (int)i;
    close(target);
    if (parked[i] >= 0 && dup3(parked[i], target, O_CLOEXEC) < 0) return false;
  }
  close_from(first + (int)count);
  return true;
}

bool descriptors_send(int socket, const void *bytes, size_t count, const int *fds, size_t fd_count, int flags) {
  union {
    struct cmsghdr head;
    char room[CMSG_SPACE(sizeof(int) * MAX_SENT)];
  } control = {0};
  struct iovec part = {.iov_base = (void *)(uintptr_t)bytes, .iov_len = count};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
  if (fd_count > MAX_SENT) {
    errno = EINVAL;
    return false;
  }
  if (fd_count > 0) {
    message.msg_control = control.room;
    message.msg_controllen = CMSG_SPACE(sizeof(int) * fd_count);
    control.head = (struct cmsghdr){.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof(int) * fd_count)};
    memcpy(CMSG_DATA(&control.head), fds, sizeof(int) * fd_count);
  }
  return sendmsg(socket, &message, MSG_NOSIGNAL | flags) == (ssize_t)count;
}
