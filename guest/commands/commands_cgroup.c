/*
 * What a command takes of memory, also by files on a file system in memory, is charged to its cgroup and stays there when it has ended. When a
 * cgroup is full, the kernel ends processes in it. If the guest program were in it too, the kernel would end the guest program in the end.
 */
#include "commands/commands_cgroup.h"

#include <fcntl.h>
#include <unistd.h>

int commands_cgroup = -1;

bool commands_cgroup_adopt(int fd) {
  commands_cgroup = fd;
  return fcntl(fd, F_SETFD, FD_CLOEXEC) == 0;
}

/* SECURITY: memory that commands fill up is their own, and the guest program has its share whatever they do (G-08) */
bool commands_cgroup_join(void) { return commands_cgroup < 0 || write(commands_cgroup, "0", 1) == 1; }
