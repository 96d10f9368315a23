/* The records of a tree: what `tree-out` tells, and what `tree-in` takes. */
#ifndef CLOCHE_TREE_SEND_H
#define CLOCHE_TREE_SEND_H

#include <stdint.h>

#include "builtins/folder.h"

struct tree_sent {
  uint64_t bytes;
  uint64_t members; /* files and links */
  uint64_t room;    /* no file is begun with which it would be more bytes than that; 0: there is no limit */
  void (*no_room)(void) __attribute__((noreturn));
};

/* What has the name, at the trail, and all below it. No link is followed. Gives up on errors. */
void tree_send(struct tree_sent *sent, struct trail *trail, int parent, const char *name);

#endif
