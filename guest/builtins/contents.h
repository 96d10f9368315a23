/* Reading regular files, and nothing that only looks like one. */
#ifndef CLOCHE_CONTENTS_H
#define CLOCHE_CONTENTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

/* Never blocks on a pipe and never follows a link. -1 with errno; EINVAL when it is not a regular file. */
int contents_open(int parent, const char *name, struct stat *st);
/* Writes BYTES records for up to `length` bytes from `offset`, and adds how many to `sent`. False with errno. */
bool contents_stream(int file, uint64_t offset, uint64_t length, uint64_t *sent);
/* The same; returns how many. Gives up on errors. */
uint64_t contents_send(int file, uint64_t offset, uint64_t length, const char *path);
/* True when both can be read and hold the same bytes. */
bool contents_equal(int one, int other);

#endif
