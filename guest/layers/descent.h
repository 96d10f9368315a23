/* The folders on the way down a tree, of any depth with few descriptors. */
#ifndef CLOCHE_DESCENT_H
#define CLOCHE_DESCENT_H

#include <stddef.h>
#include <sys/types.h>

struct rung {
  int fd; /* -1: closed, and found again from the one below */
  dev_t device;
  ino_t inode;
};

struct descent {
  struct rung *rungs;
  size_t count;
  size_t capacity;
};

/* Takes over the open folder as the innermost. Fails when it is too deep. */
void descent_enter(struct descent *d, int folder);
/* The innermost. */
int descent_here(const struct descent *d);
/* Closes the innermost; the one above is innermost and open then. Fails when somebody has moved the folders meanwhile. */
void descent_leave(struct descent *d);

#endif
