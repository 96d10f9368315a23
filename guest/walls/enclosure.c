/*
 * The mounts of the stage become the root of a process in namespaces of its own. This process stays outside of its process namespace and waits for it: it is what
 * the daemon knows as the wall. It becomes a small program for that, so that nothing of what it was forked from stays in memory.
 */
#include "walls/enclosure.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/launcher.h"
#include "walls/keep_capabilities.h"
#include "walls/restrict_mount.h"
#include "walls/sandbox_tree.h"
#include "walls/stage.h"
#include "walls/wall_watch.h"

bool enclosure_option(struct enclosure *e, const char *name, const char *value) {
  if (strcmp(name, "--hostname") == 0) e->hostname = value;
  else if (strcmp(name, "--memory") == 0) e->memory = value;
  else return false;
  return true;
}

/* SECURITY: own process, IPC, host name and cgroup namespaces; users, mounts and the network are apart already (G-03, G-04, G-07) */
static void leave_namespaces(void) {
  if (unshare(CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS) < 0) fail("cannot make a namespace");
  /* A kernel without cgroups has nothing to hide there. */
  if (unshare(CLONE_NEWCGROUP) < 0 && errno != EINVAL) fail("cannot make a cgroup namespace");
}

/* Shows the processes of the namespace that it is mounted in. */
static void mount_proc(int tree) {
  char target[32];
  int folder = sandbox_tree_folder(tree, "proc", target);
  if (mount("proc", target, "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) < 0) fail("cannot mount /proc");
  close(folder);
}

/* SECURITY: the host's root is mounted nowhere in the sandbox (G-01) */
static void change_root(int tree) {
  if (fchdir(tree) < 0 || syscall(SYS_pivot_root, ".", ".") < 0 || umount2(".", MNT_DETACH) < 0 || chdir("/") < 0) fail("cannot change the root");
}

/* SECURITY: the kernel's settings are the host's (G-07) */
static void protect_settings(void) {
  if (mount("/proc/sys", "/proc/sys", NULL, MS_BIND, NULL) < 0) fail("cannot protect /proc/sys");
  restrict_mount("/proc/sys", MS_RDONLY);
}

static void become_first(const struct enclosure *e, const struct id_map *map, int tree, char **program) __attribute__((noreturn));
static void become_first(const struct enclosure *e, const struct id_map *map, int tree, char **program) {
  mount_proc(tree);
  change_root(tree);
  protect_settings();
  if (sethostname(e->hostname, strlen(e->hostname)) < 0) fail("cannot set the host name");
  if (map->own != 0) keep_capabilities();
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0) fail("cannot forbid new privileges");
  execve(program[0], program, (char *[]){NULL});
  fail("cannot start the guest program");
}

void enclosure_run(const struct enclosure *e, const struct host_folders *folders, const struct id_map *map, char **program) {
  /* The copy: the ids of the sandbox may not be allowed to read what this process runs. */
  int own_program = open_path(STAGE "/guest");
  int tree = sandbox_tree_make(folders, e->memory);
  leave_namespaces();
  pid_t first = fork();
  if (first < 0) fail("cannot fork");
  if (first == 0) become_first(e, map, tree, program);
  wall_watch_begin(own_program, e->hostname);
}
