/* What root can do for a sandbox before it enters the user namespace: ids of its own, and folders of the host without what is mounted below them. */
#ifndef CLOCHE_APART_H
#define CLOCHE_APART_H

#include "walls/host_folders.h"
#include "walls/idmap.h"
#include "walls/own_ids.h"
#include "walls/spare.h"
#include "walls/stage.h"

#define MAX_TREES (MAX_LAYERS + MAX_HOST_FOLDERS + 8u)

struct apart {
  int trees[MAX_TREES];
  size_t count;
};

/* Opens layers and host folders as such mounts, which are nowhere yet, and changes the map to the sandbox's own ids. Says in the file wall.ids of the current folder which
 * these are, or why there are none. With `spare`, unless that is NULL, they are its own. */
void apart_open(struct apart *apart, struct stage_layers *layers, struct host_folders *folders, struct id_map *map, struct own_ids *ids, const struct spare *spare);
/* Mounts them below `stage`, in the namespaces of the sandbox. */
void apart_attach(const struct apart *apart, const char *stage);

#endif
