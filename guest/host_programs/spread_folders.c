/*
 * `cloche-guest spread FOLDER…`: tells the file system that what is made in each of these folders has nothing to do with what else is there.
 *
 * ext4 puts a new folder, and all that is made in it, near its parent. There it looks at every inode that was removed in the last five minutes before it takes one: where
 * workspaces come and go, that is a millisecond for each file. With this flag, the one of `chattr +T`, a new folder gets a part of the disk that is empty.
 */
#include "host_programs/spread_folders.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdbool.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/launcher.h"

/* Other file systems have no such flag, and some hosts let nobody set one: then nothing is lost but time. */
static bool is_no_wish(int error) { return error == ENOTTY || error == EOPNOTSUPP || error == EINVAL || error == EPERM || error == EACCES || error == ENOSYS; }

static bool spread(int folder) {
  int flags;
  if (ioctl(folder, FS_IOC_GETFLAGS, &flags) < 0) return false;
  flags |= FS_TOPDIR_FL;
  return ioctl(folder, FS_IOC_SETFLAGS, &flags) == 0;
}

int spread_folders_main(int argc, char **argv) {
  (void)argc;
  for (char **path = argv + 1; *path; path++) {
    int folder = open(*path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder < 0) fail("cannot open %s", *path);
    if (!spread(folder) && !is_no_wish(errno)) fail("cannot set a flag of %s", *path);
    close(folder);
  }
  return 0;
}
