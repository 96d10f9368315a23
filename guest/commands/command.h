/* What runs in the forked child: it becomes the user, is hardened, and executes a program or a builtin. */
#ifndef CLOCHE_COMMAND_H
#define CLOCHE_COMMAND_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "base/bounds.h"

struct command {
  char *const *argv;
  char *const *env;
  const char *cwd;
  uid_t uid;
  gid_t gid;
  bool builtin;
  bool terminal; /* stdio[0] becomes the controlling terminal */
  int stdio[3];
  unsigned rlimit_count;
  struct {
    uint32_t resource;
    struct rlimit limit;
  } rlimits[MAX_RLIMITS];
};

/* Does not return. Failures go into the status pipe. */
void command_main(const struct command *command, int status_fd) __attribute__((noreturn));

#endif
