#include "walls/restrict_mount.h"

#include <sys/mount.h>
#include <sys/statvfs.h>

#include "base/launcher.h"

static const struct {
  unsigned long present, flag;
} kept[] = {
    {ST_RDONLY, MS_RDONLY},   {ST_NOSUID, MS_NOSUID},         {ST_NODEV, MS_NODEV},       {ST_NOEXEC, MS_NOEXEC},
    {ST_NOATIME, MS_NOATIME}, {ST_NODIRATIME, MS_NODIRATIME}, {ST_RELATIME, MS_RELATIME},
};

void restrict_mount(const char *path, unsigned long flags) {
  struct statvfs now;
  if (statvfs(path, &now) < 0) fail("cannot look at %s", path);
  /* What the host's mount forbids stays forbidden, or the kernel refuses. */
  for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
    if (now.f_flag & kept[i].present) flags |= kept[i].flag;
  }
  if (mount(NULL, path, NULL, MS_REMOUNT | MS_BIND | flags, NULL) < 0) fail("cannot restrict the mount of %s", path);
}
