/* The folders that builtins work on, opened once at the start. */
#ifndef CLOCHE_ROOTS_H
#define CLOCHE_ROOTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/bounds.h"

enum root_number { ROOT_WORKSPACE, ROOT_BASELINE, ROOT_UPPER, ROOT_SYSTEM, ROOT_COUNT };

struct root {
  const char *name;
  int fd;           /* -1: not there */
  const char *path; /* where an absolute link into it starts, without a slash at the end */
  bool writable;
};

extern struct root roots[ROOT_COUNT];
/* The read-only layers between the baseline and the upper, bottom first: what `changes` looks through. */
extern int layer_fds[MAX_LAYERS];
extern size_t layer_count;

/* Opens what is given (NULL: not there); false when a given one cannot be opened. */
bool roots_open(const char *workspace, const char *upper, const char *baseline, char *const *layers, size_t count);
struct root *root_find(const char *name);

#endif
