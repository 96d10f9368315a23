/* What a commit has done so far, and how to take it back. */
#ifndef CLOCHE_TREE_UNDO_H
#define CLOCHE_TREE_UNDO_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

enum deed {
  MADE_FOLDER,    /* nothing was there */
  PLACED,         /* nothing was there; it came from the staging folder */
  SWAPPED,        /* what was there is in the staging folder under the same number */
  SET_ASIDE,      /* what was there is in the staging folder */
  EMPTYING,       /* a folder whose content goes; `before` is how it was */
  REMOVED_FOLDER  /* an empty one */
};

void undo_remember(enum deed deed, const char *path, size_t number, const struct stat *before);
/* Takes everything back, the newest first. False when something could not be: then it is still in the staging folder. */
bool undo_all(int base);

/* The folder of a path, through no link, and its name there; -1 with errno: ELOOP for a link. The caller closes it. */
int open_parent(int base, const char *path, const char **name);

#endif
