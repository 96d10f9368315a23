/*
 * What holds an emulator. Its root has the system's programs and libraries, read-only, and the folder of its machine; it has no network; and the filter
 * takes from it what one process may do to another of the same user, because where a user starts it, it has that user's id.
 */
#include "machine/cell.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/launcher.h"
#include "commands/seccomp.h"

#define STAGE "/run" /* covered by a tmpfs in our own mount namespace */
#define MACHINE "/machine"

/* As `struct mount_attr` and what belongs to it, which not every libc has. */
struct mount_change {
  uint64_t set, clear, propagation, namespace;
};
#define WITH_ALL_BELOW 0x8000
#define CHANGE_READ_ONLY 1u

struct shown {
  const char *path;
  int fd; /* -1: not there */
};

/* Of the system: what programs are loaded from, and the accelerator. */
static struct shown system_places[] = {
    {"/usr", -1}, {"/bin", -1}, {"/sbin", -1}, {"/lib", -1}, {"/lib32", -1}, {"/lib64", -1}, {"/etc/ld.so.cache", -1}, {"/etc/alternatives", -1},
    {"/nix/store", -1}, {"/gnu/store", -1}, {"/dev/kvm", -1},
};
/* A program that is installed elsewhere may be in somebody's home. So the program itself is shown, and not its folder. */
static const char *const siblings[] = {"/../lib", "/../lib64", "/../share/qemu"};

#define SYSTEM_PLACES (sizeof system_places / sizeof *system_places)
#define SIBLINGS (sizeof siblings / sizeof *siblings)
#define ELSEWHERE (1 + SIBLINGS) /* the program, and what it has beside */

static void keep_own_ids(uid_t uid, gid_t gid) {
  char line[64];
  write_text("/proc/self/setgroups", "deny");
  snprintf(line, sizeof line, "%u %u 1\n", uid, uid);
  write_text("/proc/self/uid_map", line);
  snprintf(line, sizeof line, "%u %u 1\n", gid, gid);
  write_text("/proc/self/gid_map", line);
}

static int open_if_there(const char *path) {
  int fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0 && errno != ENOENT && errno != ENOTDIR && errno != EACCES) fail("cannot open %s", path);
  return fd;
}

static void make_folders(char *path) {
  for (char *at = path + 1; (at = strchr(at, '/')); at++) {
    *at = 0;
    if (mkdir(path, 0755) != 0 && errno != EEXIST) fail("cannot make %s", path);
    *at = '/';
  }
}

/* A link as a link, a folder or a file by a mount, at the place that it has on the host. */
static void show(const char *path, int fd) {
  char target[PATH_MAX + sizeof STAGE], source[64], link[PATH_MAX];
  struct stat st;
  if (fd < 0) return;
  snprintf(target, sizeof target, STAGE "%s", path);
  make_folders(target);
  if (fstat(fd, &st) != 0) fail("cannot look at %s", path);
  if (S_ISLNK(st.st_mode)) {
    ssize_t length = readlinkat(fd, "", link, sizeof link - 1);
    if (length < 0) fail("cannot read %s", path);
    link[length] = 0;
    if (symlink(link, target) != 0) fail("cannot make %s", target);
    return;
  }
  int made = S_ISDIR(st.st_mode) ? mkdir(target, 0755) : mknod(target, S_IFREG | 0644, 0);
  if (made != 0 && errno != EEXIST) fail("cannot make %s", target);
  snprintf(source, sizeof source, "/proc/self/fd/%d", fd);
  if (mount(source, target, NULL, MS_BIND | MS_REC, NULL) != 0) fail("cannot show %s", path);
}

static bool is_of_the_system(const char *path) {
  for (size_t i = 0; i < SYSTEM_PLACES; i++) {
    size_t length = strlen(system_places[i].path);
    if (system_places[i].fd >= 0 && strncmp(path, system_places[i].path, length) == 0 && path[length] == '/') return true;
  }
  return false;
}

/* Opened before the stage covers them. */
static void open_elsewhere(const char *program, struct shown *found) {
  char path[PATH_MAX + 16];
  int folder = (int)(strrchr(program, '/') - program);
  found[0] = (struct shown){program, open_path(program)};
  for (size_t i = 0; i < SIBLINGS; i++) {
    snprintf(path, sizeof path, "%.*s%s", folder, program, siblings[i]);
    char *place = realpath(path, NULL);
    /* Never the root itself, by a link. */
    found[i + 1] = (struct shown){place, place && strcmp(place, "/") != 0 ? open_if_there(place) : -1};
  }
}

/* SECURITY: neither the sockets in its own folder, which the daemon connects to, nor anything else is an emulator's to replace (G-22) */
static void make_read_only(const char *path) {
  struct mount_change change = {.set = CHANGE_READ_ONLY};
  if (syscall(SYS_mount_setattr, AT_FDCWD, path, WITH_ALL_BELOW, &change, sizeof change) != 0) fail("cannot make mounts read-only");
}

static void take_as_root(const char *path) {
  if (chdir(path) != 0 || syscall(SYS_pivot_root, ".", ".") != 0) fail("cannot change the root");
  if (umount2(".", MNT_DETACH) != 0 || chdir(MACHINE) != 0) fail("cannot leave the old root");
}

/* SECURITY: an emulator that a guest has broken out to finds neither a file nor the network nor another process of the user (G-22) */
const char *cell_enter(const char *program, bool as_user) {
  static char place[PATH_MAX];
  struct shown elsewhere[ELSEWHERE] = {0};
  char self[64];
  uid_t uid = geteuid();
  gid_t gid = getegid();
  if (!realpath(program, place)) fail("cannot run %s", program);
  if (as_user) {
    if (unshare(CLONE_NEWUSER) != 0) fail("cannot make a user namespace");
    keep_own_ids(uid, gid);
  }
  if (unshare(CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC) != 0) fail("cannot make namespaces");
  for (size_t i = 0; i < SYSTEM_PLACES; i++) system_places[i].fd = open_if_there(system_places[i].path);
  if (!is_of_the_system(place)) open_elsewhere(place, elsewhere);
  int folder = open_path(".");
  snprintf(self, sizeof self, "/proc/%d", (int)getpid());
  int own_process = open_path(self);
  if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0) fail("cannot make mounts private");
  if (mount("cloche", STAGE, "tmpfs", 0, NULL) != 0) fail("cannot mount the cell");
  for (size_t i = 0; i < SYSTEM_PLACES; i++) show(system_places[i].path, system_places[i].fd);
  for (size_t i = 0; i < ELSEWHERE; i++) {
    if (elsewhere[i].path) show(elsewhere[i].path, elsewhere[i].fd);
  }
  /* Its own descriptors have names there; those of other processes have none. */
  show("/proc/self", own_process);
  show(MACHINE, folder);
  make_read_only(STAGE);
  take_as_root(STAGE);
  return place;
}

/* SECURITY: it gets no privilege back, and has no way to another process that has its id (G-22) */
void cell_close(void) {
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || !seccomp_install(SECCOMP_EMULATOR)) fail("cannot install the system call filter");
}
