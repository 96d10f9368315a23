/* The process that starts commands which get secrets, each in a user namespace of its own. */
#ifndef CLOCHE_KEEPER_H
#define CLOCHE_KEEPER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Forks it. To be called before the guest program has its filter, which lets nobody make a namespace, and before it gives up its capabilities. */
bool keeper_start(void);
/* Has the SPAWN in these bytes started with these descriptors. Returns the pid of its shim, which is a child of the caller's, or -1 with errno. */
pid_t keeper_fork(const uint8_t *request, size_t size, const int stdio[3], int status_fd);
/* False where there is none: then commands have the guest program's user, and no wall would hold between them. */
bool keeper_is_there(void);

#endif
