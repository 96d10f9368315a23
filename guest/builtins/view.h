/*
 * What /workspace was at an earlier state: the baseline and the first of the layers over it, looked through from the top down as the kernel would. It
 * is mounted nowhere.
 */
#ifndef CLOCHE_VIEW_H
#define CLOCHE_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "base/bounds.h"
#include "builtins/folder.h"
#include "builtins/resolve.h"

/* One folder of that state: those of the layers that show in it, from the top down. */
struct view {
  int folders[MAX_LAYERS + 1];
  size_t count; /* 0: there is no such folder */
};

/* The top. `layers` of them are looked through; gives up when there are not as many. Not to be left. */
void view_open(struct view *view, size_t layers);
/* What has the name, and the folder of a layer that it is in. False with errno, which is ENOENT when nothing has it. */
bool view_find(const struct view *view, const char *name, struct stat *st, int *folder);
/* The same, and gives up on errors. */
bool view_look(const struct view *view, const char *name, struct stat *st, int *folder);
/* False with errno when a layer's folder cannot be opened: EACCES when it is closed to the user. To be left in any case. */
bool view_enter(const struct view *view, const char *name, struct view *below);
void view_leave(const struct view *view);
/* Every name that a layer has there, once, sorted; some may be of what is gone. False with errno. */
bool view_names(const struct view *view, struct names *names);
/* The place of a path in that state; no link is followed. Gives up when there is nothing. */
struct place view_place(size_t layers, const char *path);

/* Whether a folder of a layer hides all of the one below it: it was removed and made anew. */
bool is_opaque(int folder);

#endif
