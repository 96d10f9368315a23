/*
 * On disk the files of all sandboxes have the same owners, so that layers and environments can be shared. But what the kernel counts by user it would
 * count for all sandboxes together. So each runs with ids of its own, and the mounts of its folders say which ids on disk those are.
 */
#include "apart.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "launcher.h"
#include "mapped_mount.h"

#define PLACE "/run" /* covered by a tmpfs in our own mount namespace */

struct places {
  int mapping;
  unsigned count;
};

/* The path to the same folder, mounted once more; NULL, with errno, where it cannot be. */
static const char *again(struct places *places, const char *folder) {
  char target[32];
  snprintf(target, sizeof target, PLACE "/%u", places->count++);
  if (!mount_again(folder, places->mapping, target)) return NULL;
  const char *path = strdup(target);
  if (!path) fail("cannot keep a path");
  return path;
}

static bool replace(struct places *places, const char **path) {
  if (!*path) return true;
  const char *other = again(places, *path);
  if (other) *path = other;
  return other != NULL;
}

static bool map_layers(struct places *places, struct stage_layers *s) {
  bool mapped = replace(places, &s->root_path) && replace(places, &s->baseline_path) && replace(places, &s->root_folder) &&
                replace(places, &s->workspace_folder) && replace(places, &s->bundle_path) && replace(places, &s->door_path);
  for (size_t i = 0; mapped && i < s->layer_count; i++) mapped = replace(places, &s->layer_paths[i]);
  return mapped;
}

/* What a kernel says that does not know such mounts, and one whose file system does not. */
static bool cannot_map(int error) { return error == ENOSYS || error == EINVAL || error == EOPNOTSUPP || error == EPERM; }

/* For the daemon, which tells it. */
static void note(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void note(const char *format, ...) {
  va_list arguments;
  int file = open("wall.ids", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
  va_start(arguments, format);
  if (file < 0 || vdprintf(file, format, arguments) < 0 || close(file) < 0) fail("cannot write wall.ids");
  va_end(arguments);
}

/* SECURITY: what the kernel counts for the ids of one sandbox is no other's (G-26) */
static void give_ids(struct places *places, struct stage_layers *layers, struct id_map *map, struct own_ids *ids, unsigned long own) {
  struct stage_layers mapped = *layers;
  places->mapping = mapping_open(map->shift_base, own, map->shift_count);
  if (map_layers(places, &mapped)) {
    *layers = mapped;
    map->shift_base = own;
    note("own %lu\n", own);
  } else if (cannot_map(errno)) {
    note("shared %s\n", strerror(errno));
    close(ids->lock);
    ids->lock = -1;
  } else {
    fail("cannot mount a layer once more");
  }
  close(places->mapping);
  places->mapping = -1;
}

void set_apart(struct stage_layers *layers, struct host_folders *folders, struct id_map *map, struct own_ids *ids) {
  struct places places = {.mapping = -1};
  bool mapped = ids->ranges > 0 && mapping_supported();
  /* Before its folder is covered. */
  unsigned long own = mapped ? own_ids_take(ids, map->shift_count) : 0;
  if (unshare(CLONE_NEWNS) < 0) fail("cannot make a mount namespace");
  if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0) fail("cannot make mounts private");
  if (mount("cloche", PLACE, "tmpfs", MS_NOSUID | MS_NODEV, "mode=755,size=1m") < 0) fail("cannot mount a place for the layers");
  if (mapped) give_ids(&places, layers, map, ids, own);
  else note("shared %s\n", "this kernel cannot map the ids of layers");
  /* In the user namespace nobody may look past what is mounted below a folder, and an overlay of such a one is refused. */
  for (size_t i = 0; i < folders->count; i++) {
    folders->sources[i] = again(&places, folders->paths[i]);
    if (!folders->sources[i]) fail("cannot mount %s once more", folders->paths[i]);
  }
}
