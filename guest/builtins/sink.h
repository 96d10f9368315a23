/* A file being written: complete under its name, or gone. */
#ifndef CLOCHE_SINK_H
#define CLOCHE_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

/* Starts a file in `parent`, under a temporary name; gives up when it cannot. `path` is for messages. */
void sink_begin(int parent, const char *path);
/* Starts it under its own name; false when something has that name. */
bool sink_begin_new(int parent, const char *name, const char *path);
void sink_write(const void *bytes, size_t count);
/* Sets mode and, unless NULL, the time, and gives it its name. */
void sink_commit(const char *name, mode_t mode, const struct timespec *mtime);
/* Replaces whatever is not a folder by a link. */
void sink_link(int parent, const char *name, const char *target, const char *path);
/* Removes what is not complete; safe in a signal handler. */
void sink_abandon(void);
/* From now on a TERM removes what is not complete. */
void sink_guard(void);

#endif
