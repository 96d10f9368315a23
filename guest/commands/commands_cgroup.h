/* The cgroup that commands run in, below or beside the guest program's own. */
#ifndef CLOCHE_COMMANDS_CGROUP_H
#define CLOCHE_COMMANDS_CGROUP_H

#include <stdbool.h>

/* The file by which a process joins the cgroup, opened by the launcher; -1: there is none. Commands never have it. */
extern int commands_cgroup;

/* Takes it over under this number; false when it is no open descriptor. */
bool commands_cgroup_adopt(int fd);
/* For the process that becomes a command. False with errno. */
bool commands_cgroup_join(void);

#endif
