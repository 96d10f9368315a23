/* How a layer is walked whose owner may be changing it, and may try to have something else read: nothing is reached by a path. */
#ifndef CLOCHE_LAYER_PLACE_H
#define CLOCHE_LAYER_PLACE_H

#include <stdbool.h>

#include "walls/idmap.h"

#define PLACE_TRIES 4 /* for a name that stands for something else each time */
#define PLACE_DEPTH 100000u /* of folders; no path is as long */

/* Opens a name in an open folder for reading, never through a link. -1 with errno. */
int place_open(int folder, const char *name, int flags);
/* After a failure: gone, or something else than a moment ago. */
bool place_was_swapped(void);
/* Opens a path's descriptor once more with the rights of now, and closes the old one. Fails when it cannot. */
int place_reopen(int fd, const char *path);
/* A tree takes descriptors for the folders on the way. */
void place_raise_descriptors(void);

/* Takes the folder named by an option, and an id map, from the command line; becomes the sandbox's root where there is a map, and opens the folder. */
int place_enter(char **argv, const char *option, struct id_map *map);

#endif
