/* Which descriptors a forked child keeps, and at which numbers. */
#ifndef CLOCHE_DESCRIPTORS_H
#define CLOCHE_DESCRIPTORS_H

#include <stdbool.h>
#include <stddef.h>

/* Moves `fds[i]` to `first + i`, close-on-exec, and closes everything else from `first` on. False with errno. */
bool descriptors_keep(const int *fds, size_t count, int first);

#endif
