/* The small process above each command: whatever the command leaves behind stays below it and can be found. */
#ifndef CLOCHE_SHIM_H
#define CLOCHE_SHIM_H

#include <stdint.h>
#include <sys/types.h>

#include "commands/command.h"

enum shim_report_kind { SHIM_STARTED = 1, SHIM_FAILED = 2, SHIM_EXITED = 3 };

/* What shim and command write into the status pipe; small enough to be one write that nothing can split. */
struct shim_report {
  uint32_t kind;
  int32_t value; /* pid, errno or wait status */
  char message[248];
};

void shim_send(int fd, enum shim_report_kind kind, int32_t value, const char *message);
/* What a shim does once it is forked, a child of `parent`: forks the command, and stays as long as anything of it is there. Does not return. */
void shim_main(const struct command *command, int status_fd, pid_t parent) __attribute__((noreturn));
/* Forks the shim and, below it, the command. Returns the shim's pid, or -1 with errno. */
pid_t shim_fork(const struct command *command, int status_fd);
/* Forks a builtin, which makes no process of its own and so needs no shim. Returns its pid, or -1 with errno. */
pid_t builtin_fork(const struct command *command, int status_fd);

#endif
