/* A walk through a layer whose owner may be changing it, to any depth: by open folders, never by a path, and without recursion. */
#ifndef CLOCHE_LAYER_WALK_H
#define CLOCHE_LAYER_WALK_H

#include <sys/stat.h>

enum outcome { TAKEN, CHANGED /* it is something else by now: it is looked at again, a few times */ };

struct layer_visitor {
  /* Of a folder, when it is entered and when all that is in it has been told. The layer itself has the name "". */
  void (*enter)(int folder, const char *name);
  void (*leave)(int folder, const char *name);
  /* Of everything else. */
  enum outcome (*take)(int parent, const char *name, const struct stat *st);
};

/* Takes over the open folder. */
void layer_walk(int top, const struct layer_visitor *visitor);

#endif
