/* How much of what the kernel counts by user a sandbox may take from the user who runs it. */
#ifndef CLOCHE_NAMESPACE_LIMITS_H
#define CLOCHE_NAMESPACE_LIMITS_H

/* For the root of a new user namespace: holds for it and all namespaces below. */
/* The name of the first that cannot be set, with errno; NULL when all are. */
const char *namespace_limits_set(void);

#endif
