/*
 * The root is an environment, which somebody else may have made. A link in it, where one of our mounts belongs, could lead that mount to another place; so
 * such an environment does not start.
 */
#include "walls/sandbox_tree.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/launcher.h"
#include "walls/restrict_mount.h"
#include "walls/stage.h"

#define GUEST_FOLDER ".cloche"

/* SECURITY: a link of an environment leads none of our mounts to another place (G-177) */
static int open_below(int folder, const char *name) {
  struct open_how how = {.flags = O_PATH | O_DIRECTORY | O_CLOEXEC, .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS};
  return (int)syscall(SYS_openat2, folder, name, &how, sizeof how);
}

static int enter_folder(int folder, const char *name, const char *whole) {
  if (mkdirat(folder, name, 0755) < 0 && errno != EEXIST) fail("cannot make the folder /%s of the environment", whole);
  int inner = open_below(folder, name);
  if (inner < 0) fail("cannot use the folder /%s of the environment", whole);
  close(folder);
  return inner;
}

int sandbox_tree_folder(int tree, const char *path, char target[32]) {
  char names[PATH_MAX], *rest;
  size_t length = strlen(path);
  if (length >= sizeof names) fail_usage("a path is too long");
  memcpy(names, path, length + 1);
  int folder = openat(tree, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) fail("cannot open the environment");
  mode_t mask = umask(0);
  for (char *name = strtok_r(names, "/", &rest); name; name = strtok_r(NULL, "/", &rest)) folder = enter_folder(folder, name, path);
  umask(mask);
  snprintf(target, 32, "/proc/self/fd/%d", folder);
  return folder;
}

/* What is mounted on the stage already. */
static void move_to(int tree, const char *staged, const char *path) {
  char target[32];
  int folder = sandbox_tree_folder(tree, path, target);
  if (move_mount(AT_FDCWD, staged, folder, "", MOVE_MOUNT_T_EMPTY_PATH) < 0) fail("cannot mount /%s", path);
  close(folder);
}

static void mount_memory(int tree, const char *path, const char *mode, const char *bytes) {
  char target[32], options[64];
  int folder = sandbox_tree_folder(tree, path, target);
  snprintf(options, sizeof options, "mode=%s,size=%s", mode, bytes);
  if (mount("tmpfs", target, "tmpfs", MS_NOSUID | MS_NODEV, options) < 0) fail("cannot mount /%s", path);
  close(folder);
}

static void mount_host_folders(int tree, const struct host_folders *folders) {
  char staged[64];
  for (size_t i = 0; i < folders->count; i++) {
    snprintf(staged, sizeof staged, STAGE "/host/%zu", i);
    move_to(tree, staged, folders->paths[i]);
  }
}

/* In a folder in memory, so that the environment needs no place for it. */
static void mount_guest(int tree) {
  char target[48];
  mount_memory(tree, GUEST_FOLDER, "755", "64k");
  int folder = sandbox_tree_folder(tree, GUEST_FOLDER, target);
  int file = openat(folder, "guest", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);
  if (file < 0 || close(file) < 0) fail("cannot make a place for the guest program");
  snprintf(target, sizeof target, "/proc/self/fd/%d/guest", folder);
  if (mount(STAGE "/guest", target, NULL, MS_BIND, NULL) < 0) fail("cannot mount the guest program");
  restrict_mount(target, MS_RDONLY | MS_NOSUID | MS_NODEV);
  close(folder);
}

int sandbox_tree_make(const struct host_folders *folders, const char *memory) {
  int tree = open_path(STAGE "/root");
  mount_host_folders(tree, folders);
  move_to(tree, STAGE "/dev", "dev");
  mount_memory(tree, "dev/shm", "1777", memory);
  mount_memory(tree, "tmp", "1777", memory);
  mount_memory(tree, "run", "755", memory);
  move_to(tree, STAGE "/workspace", "workspace");
  mount_guest(tree);
  return tree;
}
