/* The system call filter of everything that the guest program runs, and of a user's emulator. */
#ifndef CLOCHE_SECCOMP_H
#define CLOCHE_SECCOMP_H

#include <stdbool.h>

enum seccomp_purpose {
  SECCOMP_COMMAND,
  SECCOMP_BUILTIN,  /* also without everything that changes who a process is */
  SECCOMP_EMULATOR, /* also without everything that one process does to another */
  SECCOMP_KEEPER,   /* as for a command, but that it may make a process in a new user namespace, with exactly these flags */
};

#define KEEPER_CLONE (CLONE_NEWUSER | CLONE_PARENT | SIGCHLD)

/* Needs no_new_privs; cannot be undone. False with errno. */
bool seccomp_install(enum seccomp_purpose purpose);

#endif
