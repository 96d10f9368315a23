#include "base/descriptors.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MAX_KEPT 128
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
