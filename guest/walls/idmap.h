/* The user namespace of a sandbox: which ids of the host stand for its ids. */
#ifndef CLOCHE_IDMAP_H
#define CLOCHE_IDMAP_H

#include <stdbool.h>

struct id_map {
  bool single;  /* the caller's own id as `own` */
  bool agent;   /* one id of the host as that of `agent` */
  unsigned own; /* the id that this process takes: root's, or that of `agent` */
  unsigned agent_uid, agent_gid;
  unsigned long shift_base;
  unsigned long shift_count; /* 0: no shifted map */
};

/* Takes `--single`, `--single-agent`, `--agent UID:GID`, `--shift-base N` and `--shift-count N`; the number of words taken, 0 when it is another option. */
int id_map_option(struct id_map *map, char *const *words);
/* False when there is no map, and so no user namespace of our own. */
bool id_map_given(const struct id_map *map);
/* Enters a user namespace with that map, and the other namespaces of `flags`, and becomes its root, or `agent`. `open_paths` runs in them but
 * still as the old user, who alone may pass the folders above. Fails when it cannot. */
void id_map_enter(const struct id_map *map, int flags, void (*open_paths)(void *), void *argument);
/* The same with a user namespace that has that map already. */
void id_map_join(const struct id_map *map, int users, int flags, void (*open_paths)(void *), void *argument);

#endif
