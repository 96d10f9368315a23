/*
 * The engine's cgroup for the container is the root of its cgroup namespace, so a mount made here shows that one and what is below, and nothing of the host's.
 * The engine removes what it finds below its own with the container.
 */
#include "walls/container_cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/launcher.h"

#define PLACE "/run" /* a folder that each container has; covered for a moment */
#define COMMANDS PLACE "/commands"

/* SECURITY: without a namespace of its own the mount would be the host's (G-01) */
static void require_own_root(void) {
  char line[4096];
  bool found = false;
  FILE *file = fopen("/proc/self/cgroup", "re");
  while (file && !found && fgets(line, sizeof line, file)) found = strstr(line, ":memory:/\n") != NULL;
  if (file) fclose(file);
  if (found) return;
  errno = EPERM;
  fail("the container has no cgroup namespace of its own");
}

/* SECURITY: below the container's own, because a process that is elsewhere would see the host's name for its cgroup (G-01, G-08) */
int container_cgroup_open(const char *bytes) {
  require_own_root();
  if (mount("cgroup", PLACE, "cgroup", MS_NOSUID | MS_NODEV | MS_NOEXEC, "memory") != 0) fail("cannot mount the container's cgroup");
  if (mkdir(COMMANDS, 0755) != 0 && errno != EEXIST) fail("cannot make a cgroup for commands");
  write_text(COMMANDS "/memory.limit_in_bytes", bytes);
  int fd = open(COMMANDS "/tasks", O_WRONLY);
  if (fd < 0) fail("cannot open the cgroup for commands");
  if (umount2(PLACE, MNT_DETACH) != 0) fail("cannot unmount the container's cgroup");
  return fd;
}
