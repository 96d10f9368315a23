/* Where hosts connect. */
#ifndef CLOCHE_LISTENER_H
#define CLOCHE_LISTENER_H

#include <stdbool.h>

/* A descriptor that listens, or one that is a connection already. False when it cannot be used. */
bool listener_adopt(int fd);
/* Binds a unix socket there, for this user only, listens, and tells so by a file beside it. A descriptor, or -1. */
int listener_open(const char *path);
/* The same, and takes what connects. */
bool listener_bind(const char *path);

#endif
