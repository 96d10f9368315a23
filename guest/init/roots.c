#include "init/roots.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mount.h>

#include "base/complain.h"

struct root roots[ROOT_COUNT] = {
    [ROOT_WORKSPACE] = {.name = "workspace", .fd = -1, .writable = true},
    [ROOT_BASELINE] = {.name = "baseline", .fd = -1},
    [ROOT_UPPER] = {.name = "upper", .fd = -1},
    [ROOT_SYSTEM] = {.name = "system", .fd = -1, .path = "", .writable = true},
};

int layer_fds[MAX_LAYERS];
size_t layer_count;

static bool open_folder(int *fd, const char *path) {
  *fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (*fd < 0) complain("Cannot open the folder \"%s\": %s", path, strerror(errno));
  return *fd >= 0;
}

static bool open_root(struct root *root, const char *path) { return open_folder(&root->fd, path); }

bool roots_open(const char *workspace, const char *upper, const char *baseline, char *const *layers, size_t count) {
  if (!open_root(&roots[ROOT_SYSTEM], "/") || !open_root(&roots[ROOT_WORKSPACE], workspace)) return false;
  if (upper && !open_root(&roots[ROOT_UPPER], upper)) return false;
  if (baseline && !open_root(&roots[ROOT_BASELINE], baseline)) return false;
  for (; layer_count < count; layer_count++) {
    if (!open_folder(&layer_fds[layer_count], layers[layer_count])) return false;
  }
  /* SECURITY: from now on the layers are reached by these descriptors only. Where we may not unmount, they have to be mounted
   * read-only from outside (G-05) */
  if (upper) (void)umount2(upper, MNT_DETACH);
  if (baseline) (void)umount2(baseline, MNT_DETACH);
  for (size_t i = 0; i < count; i++) (void)umount2(layers[i], MNT_DETACH);
  /* The layers hold links as they were written under /workspace. */
  roots[ROOT_WORKSPACE].path = roots[ROOT_UPPER].path = roots[ROOT_BASELINE].path = workspace;
  return true;
}

struct root *root_find(const char *name) {
  for (int i = 0; i < ROOT_COUNT; i++) {
    if (strcmp(roots[i].name, name) == 0) return &roots[i];
  }
  return NULL;
}
