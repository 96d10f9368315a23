/* The layers of a sandbox, opened by the user and mounted on a private tmpfs by the root of the user namespace. */
#ifndef CLOCHE_STAGE_H
#define CLOCHE_STAGE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/bounds.h"

struct stage_layers {
  const char *root_path;
  const char *baseline_path;
  const char *layer_paths[MAX_LAYERS]; /* over the baseline, bottom first */
  size_t layer_count;
  const char *guest_path; /* NULL: it is on the stage already */
  const char *bundle_path; /* folder with an OCI runtime's config.json, or NULL */
  const char *socket_path; /* folder where a guest that cannot inherit a socket makes one, or NULL */
  bool opened; /* the layers are, by root: as mounts that are nowhere yet */
  int root, root_upper, root_work, baseline, upper, work, guest, bundle, socket;
  int layers[MAX_LAYERS];
};

/* Where it is: covered by a tmpfs in our own mount namespace. */
#define STAGE "/run"

/* Makes layers of an earlier sandbox below the current folder fit for use again. */
void stage_forget_marks(void);
/* Opens everything, the writable layers below the current folder. */
void stage_open(struct stage_layers *layers);
/* An empty place in memory, for the mounts that are made then. */
void stage_make(void);
/* The same with one that was made before and is nowhere yet. */
void stage_attach(int stage);
/* Puts the guest program there. */
void stage_copy_guest(int guest);
void stage_mount(const struct stage_layers *layers);
/* Opens what the guest program gets as descriptors, all of it read-only: the writable layer, the baseline, the layers between, bottom first. Gives their
 * number, which is at most MAX_LAYERS + 2. */
size_t stage_open_passed(const struct stage_layers *layers, int *passed);
/* An overlay of open folders at a path; `lowers` from the top down, `more` options with a comma before each. */
void overlay_mount(const int *lowers, size_t lower_count, int upper, int work, const char *more, const char *target);

#endif
