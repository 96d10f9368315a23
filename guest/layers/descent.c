#include "layers/descent.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/launcher.h"
#include "layers/layer_place.h"

/* So many stay open: few trees are deeper, and what is open cannot be moved away from under the walk. */
#define HELD_OPEN 200u

void descent_enter(struct descent *d, int folder) {
  struct stat st;
  if (d->count > PLACE_DEPTH) {
    errno = ENAMETOOLONG;
    fail("folders are nested too deeply");
  }
  if (fstat(folder, &st) != 0) fail("cannot look at a folder");
  if (d->count == d->capacity) {
    d->capacity = d->capacity ? d->capacity * 2 : 64;
    d->rungs = realloc(d->rungs, d->capacity * sizeof *d->rungs);
    if (!d->rungs) fail("out of memory");
  }
  if (d->count > HELD_OPEN) {
    struct rung *above = &d->rungs[d->count - 1];
    close(above->fd);
    above->fd = -1;
  }
  d->rungs[d->count++] = (struct rung){folder, st.st_dev, st.st_ino};
}

int descent_here(const struct descent *d) { return d->rungs[d->count - 1].fd; }

void descent_leave(struct descent *d) {
  int folder = d->rungs[--d->count].fd;
  struct rung *above = d->count > 0 ? &d->rungs[d->count - 1] : NULL;
  if (above && above->fd < 0) {
    struct stat st;
    above->fd = place_open(folder, "..", O_DIRECTORY);
    /* SECURITY: a sandbox that moves the folder has it lead elsewhere; only the folder that we came from is gone on with (G-11) */
    if (above->fd < 0 || fstat(above->fd, &st) != 0 || st.st_dev != above->device || st.st_ino != above->inode) {
      errno = ESTALE;
      fail("cannot go on: folders were moved meanwhile");
    }
  }
  close(folder);
}
