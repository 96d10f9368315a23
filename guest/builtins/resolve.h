/* From a path to a place below a root, without ever leaving it. */
#ifndef CLOCHE_RESOLVE_H
#define CLOCHE_RESOLVE_H

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>

#include "init/roots.h"

enum resolve_flag {
  RESOLVE_FOLLOW = 1, /* a link in the last place too */
  RESOLVE_MAKE = 2,   /* folders on the way that are missing */
  RESOLVE_AS_FAR = 4  /* a missing one ends the walk there; resolve_rest() tells what is left */
};

/* A folder and a name in it, which may not exist; "." for the root itself. Stays good even if others rename above it. */
struct place {
  int parent;
  char name[NAME_MAX + 1];
};

/* Gives up when the path leaves the root, loops or does not lead anywhere. */
struct place resolve(const struct root *root, const char *path, unsigned flags);
/* What the last walk had still to go behind the place that it found. */
const char *resolve_rest(void);
/* False when there is nothing; gives up on other errors. Follows no link. */
bool place_stat(const struct place *place, const char *path, struct stat *st);
/* Opens the folder for reading; -1 with errno. */
int place_open_folder(const struct place *place);
/* The target of a link; gives up when it cannot be read. */
void place_link(int parent, const char *name, char target[PATH_MAX]);

#endif
