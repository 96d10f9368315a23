#include "mapped_mount.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launcher.h"

/* Linux 5.19 */
#define FIRST_MAJOR 5u
#define FIRST_MINOR 19u

bool mapping_supported(void) {
  struct utsname name;
  unsigned major, minor;
  if (uname(&name) < 0 || sscanf(name.release, "%u.%u", &major, &minor) != 2) return false;
  return major > FIRST_MAJOR || (major == FIRST_MAJOR && minor >= FIRST_MINOR);
}

/* Has nothing to do but to be there until its namespace is open. */
static pid_t start_holder(const int ready[2], const int done[2]) {
  pid_t holder = fork();
  if (holder != 0) return holder;
  char byte;
  close(done[1]);
  if (unshare(CLONE_NEWUSER) < 0 || write(ready[1], "x", 1) != 1) _exit(1);
  (void)!read(done[0], &byte, 1);
  _exit(0);
}

int mapping_open(unsigned long on_disk, unsigned long own, unsigned long count) {
  int ready[2], done[2];
  char byte, path[64], line[96];
  if (pipe2(ready, O_CLOEXEC) < 0 || pipe2(done, O_CLOEXEC) < 0) fail("cannot make a pipe");
  pid_t holder = start_holder(ready, done);
  if (holder < 0) fail("cannot fork");
  close(ready[1]);
  close(done[0]);
  if (read(ready[0], &byte, 1) != 1) fail("cannot make a user namespace");
  snprintf(line, sizeof line, "%lu %lu %lu\n", on_disk, own, count);
  for (int i = 0; i < 2; i++) {
    snprintf(path, sizeof path, "/proc/%d/%s", (int)holder, i ? "gid_map" : "uid_map");
    write_text(path, line);
  }
  snprintf(path, sizeof path, "/proc/%d/ns/user", (int)holder);
  int mapping = open(path, O_RDONLY | O_CLOEXEC);
  if (mapping < 0) fail("cannot open %s", path);
  close(ready[0]);
  close(done[1]);
  if (waitpid(holder, NULL, 0) < 0) fail("cannot wait");
  return mapping;
}

bool mount_again(const char *folder, int mapping, const char *target) {
  struct mount_attr attributes = {.attr_set = MOUNT_ATTR_IDMAP, .userns_fd = (unsigned)mapping};
  int tree = open_tree(AT_FDCWD, folder, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
  if (tree < 0) return false;
  bool moved = (mapping < 0 || mount_setattr(tree, "", AT_EMPTY_PATH, &attributes, sizeof attributes) == 0) &&
               mkdir(target, 0700) == 0 && move_mount(tree, "", AT_FDCWD, target, MOVE_MOUNT_F_EMPTY_PATH) == 0;
  int saved = errno;
  close(tree);
  errno = saved;
  return moved;
}
