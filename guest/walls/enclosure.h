/* The wall of the backend `container`: namespaces, and a root of their own. */
#ifndef CLOCHE_ENCLOSURE_H
#define CLOCHE_ENCLOSURE_H

#include <stdbool.h>

#include "walls/host_folders.h"
#include "walls/idmap.h"

struct enclosure {
  const char *hostname; /* NULL: another program makes the wall */
  const char *memory;   /* the bytes of each memory-backed folder */
};

/* Takes `--hostname NAME` and `--memory BYTES`; false when it is another option. */
bool enclosure_option(struct enclosure *enclosure, const char *name, const char *value);
/* Becomes the watcher of a sandbox, whose first process runs `program`. What it inherits besides stdio has no close-on-exec. */
void enclosure_run(const struct enclosure *enclosure, const struct host_folders *folders, const struct id_map *map, char **program) __attribute__((noreturn));

#endif
