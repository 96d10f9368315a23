/* The system call filter of everything that the guest program runs. */
#ifndef CLOCHE_SECCOMP_H
#define CLOCHE_SECCOMP_H

#include <stdbool.h>

/* Needs no_new_privs; cannot be undone. False with errno. */
bool seccomp_install(void);

#endif
