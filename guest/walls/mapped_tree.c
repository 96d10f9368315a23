#include "walls/mapped_tree.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/launcher.h"

/* Linux 5.19 */
#define FIRST_MAJOR 5u
#define FIRST_MINOR 19u

bool mapping_supported(void) {
  struct utsname name;
  unsigned major, minor;
  if (uname(&name) < 0 || sscanf(name.release, "%u.%u", &major, &minor) != 2) return false;
  return major > FIRST_MAJOR || (major == FIRST_MAJOR && minor >= FIRST_MINOR);
}

int mapping_open(unsigned long on_disk, unsigned long own, unsigned long count, pid_t *holder) {
  char path[64], line[96];
  pid_t launcher = getpid();
  /* Has nothing to do but to be there until its namespace is open. */
  *holder = (pid_t)syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, NULL, NULL, NULL, 0UL);
  if (*holder < 0) fail("cannot make a user namespace");
  if (*holder == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != launcher) _exit(1);
    for (;;) pause();
  }
  snprintf(line, sizeof line, "%lu %lu %lu\n", on_disk, own, count);
  for (int i = 0; i < 2; i++) {
    snprintf(path, sizeof path, "/proc/%d/%s", (int)*holder, i ? "gid_map" : "uid_map");
    write_text(path, line);
  }
  snprintf(path, sizeof path, "/proc/%d/ns/user", (int)*holder);
  int mapping = open(path, O_RDONLY | O_CLOEXEC);
  kill(*holder, SIGKILL);
  if (mapping < 0) fail("cannot open %s", path);
  return mapping;
}

int tree_open(const char *folder, int mapping) {
  struct mount_attr attributes = {.attr_set = MOUNT_ATTR_IDMAP, .userns_fd = (unsigned)mapping};
  int tree = open_tree(AT_FDCWD, folder, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
  if (tree < 0 || mapping < 0 || mount_setattr(tree, "", AT_EMPTY_PATH, &attributes, sizeof attributes) == 0) return tree;
  int saved = errno;
  close(tree);
  errno = saved;
  return -1;
}

void tree_attach(int tree, const char *target) {
  if (mkdir(target, 0700) < 0 || move_mount(tree, "", AT_FDCWD, target, MOVE_MOUNT_F_EMPTY_PATH) < 0) fail("cannot mount a layer");
}
