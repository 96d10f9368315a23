/* The names in a folder and the path of a walk through folders. */
#ifndef CLOCHE_FOLDER_H
#define CLOCHE_FOLDER_H

#include <stdbool.h>
#include <stddef.h>

struct names {
  char **list; /* sorted by bytes */
  size_t count;
};

/* False with errno when the folder cannot be read. */
bool names_read(int folder, struct names *names);
/* Appends; takes over what is in `more`. */
void names_add(struct names *names, struct names more);
/* Sorts and leaves each name once. */
void names_unite(struct names *names);
void names_free(struct names *names);

#define TRAIL_BYTES 65536
#define TRAIL_DEPTH 2048 /* half of MAX_PATH_BYTES: no path that can be told is deeper */

/* Where a walk is, relative to where it began. */
struct trail {
  char path[TRAIL_BYTES];
  size_t length;
  unsigned depth;
};

/* Whether a path with that name below the trail is one that a record can tell. */
bool trail_fits(const struct trail *trail, const char *name);
/* Appends a name and returns the length to go back to. Gives up when it is too long or too deep. */
size_t trail_enter(struct trail *trail, const char *name);
void trail_leave(struct trail *trail, size_t length);

#endif
