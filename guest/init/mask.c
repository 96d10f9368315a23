#include "init/mask.h"

#include <errno.h>
#include <sys/mount.h>
#include <sys/stat.h>

static bool mask(const char *path) {
  struct stat st;
  if (lstat(path, &st) != 0) return errno == ENOENT;
  if (!S_ISDIR(st.st_mode)) return mount("/dev/null", path, NULL, MS_BIND, NULL) == 0;
  return mount("none", path, "tmpfs", MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC, "size=4k,mode=555") == 0;
}

bool mask_paths(char *const *paths, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (!mask(paths[i])) return false;
  }
  return true;
}
