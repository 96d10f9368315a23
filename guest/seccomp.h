/* The system call filter of everything that the guest program runs. */
#ifndef CLOCHE_SECCOMP_H
#define CLOCHE_SECCOMP_H

#include <stdbool.h>

/* Needs no_new_privs; cannot be undone. `for_builtin`: also without everything that changes who a process is. False with errno. */
bool seccomp_install(bool for_builtin);

#endif
