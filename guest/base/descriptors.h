/* Which descriptors a forked child keeps, and at which numbers; and how they are handed to another process. */
#ifndef CLOCHE_DESCRIPTORS_H
#define CLOCHE_DESCRIPTORS_H

#include <stdbool.h>
#include <stddef.h>

/* Moves `fds[i]` to `first + i`, close-on-exec, and closes everything else from `first` on. False with errno. */
bool descriptors_keep(const int *fds, size_t count, int first);
/* Sends bytes over a unix socket in one message, with any number of descriptors beside them. False with errno, or when not all of them were taken. */
bool descriptors_send(int socket, const void *bytes, size_t count, const int *fds, size_t fd_count, int flags);

#endif
