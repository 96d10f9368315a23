/* Connections of a door that have a byte stream to the host of their own, without frames. */
#ifndef CLOCHE_CONDUIT_H
#define CLOCHE_CONDUIT_H

#include <stdbool.h>
#include <stddef.h>

/* Carries between the two until both have ended, and takes over both. `bytes` came from the host already. False, with both closed, when it cannot. */
bool conduit_open(int host, int socket, const void *bytes, size_t count);

#endif
