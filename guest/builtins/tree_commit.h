/* Puts a tree that was received in place, as a whole or not at all. */
#ifndef CLOCHE_TREE_COMMIT_H
#define CLOCHE_TREE_COMMIT_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>

struct tree_step {
  struct tree_step *next;
  uint8_t type; /* `f`, `d`, `l`, or `R`: removal */
  uint32_t mode;
  struct timespec mtime;
  size_t number;     /* its name in the staging folder: of `f` and `l` */
  const char *shown; /* for messages */
  char path[];       /* from the base; each part is a plain name */
};

/* Gives up on the first that cannot be done, after everything was put back. */
void tree_commit(int base, const struct tree_step *steps);

#endif
