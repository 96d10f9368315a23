#include "layers/layer_walk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/launcher.h"
#include "builtins/folder.h"
#include "layers/descent.h"
#include "layers/layer_place.h"

struct level {
  struct names names;
  size_t next;
};

static struct descent descent;
static struct level *levels;
static size_t level_capacity;

static const char *shown(const char *name) { return *name ? name : "."; }

static void enter(int folder, const char *name, const struct layer_visitor *visitor) {
  visitor->enter(folder, name);
  descent_enter(&descent, folder);
  if (descent.count > level_capacity) {
    level_capacity = level_capacity ? level_capacity * 2 : 64;
    levels = realloc(levels, level_capacity * sizeof *levels);
    if (!levels) fail("out of memory");
  }
  struct level *l = &levels[descent.count - 1];
  *l = (struct level){0};
  if (!names_read(folder, &l->names)) fail("cannot read the folder %s", shown(name));
}

/* True when it was a folder and has been entered. */
static bool visit(const char *name, const struct layer_visitor *visitor) {
  int parent = descent_here(&descent);
  for (int tried = 0; tried < PLACE_TRIES; tried++) {
    struct stat st;
    if (fstatat(parent, name, &st, AT_SYMLINK_NOFOLLOW) != 0) {
      if (errno == ENOENT) return false;
      fail("cannot look at %s", name);
    }
    if (!S_ISDIR(st.st_mode)) {
      if (visitor->take(parent, name, &st) == TAKEN) return false;
      continue;
    }
    int folder = place_open(parent, name, O_DIRECTORY);
    if (folder >= 0) {
      enter(folder, name, visitor);
      return true;
    }
    if (!place_was_swapped()) fail("cannot open the folder %s", name);
  }
  return false;
}

void layer_walk(int top, const struct layer_visitor *visitor) {
  enter(top, "", visitor);
  while (descent.count > 0) {
    struct level *l = &levels[descent.count - 1];
    if (l->next < l->names.count) {
      (void)visit(l->names.list[l->next++], visitor);
      continue;
    }
    const struct level *parent = descent.count > 1 ? &levels[descent.count - 2] : NULL;
    visitor->leave(descent_here(&descent), parent ? parent->names.list[parent->next - 1] : "");
    names_free(&l->names);
    descent_leave(&descent);
  }
}
