/* What root can do for a sandbox before it enters the user namespace: ids of its own, and folders of the host without what is mounted below them. */
#ifndef CLOCHE_APART_H
#define CLOCHE_APART_H

#include "host_folders.h"
#include "idmap.h"
#include "own_ids.h"
#include "stage.h"

/* Enters a mount namespace in which the paths of layers and host folders lead to such mounts, and changes the map to the sandbox's own ids. Says in the file
 * wall.ids of the current folder which these are, or why there are none. */
void set_apart(struct stage_layers *layers, struct host_folders *folders, struct id_map *map, struct own_ids *ids);

#endif
