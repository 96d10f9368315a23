/*
 * On disk the files of all sandboxes have the same owners, so that layers and environments can be shared. But what the kernel counts by user it would
 * count for all sandboxes together. So each runs with ids of its own, and the mounts of its folders say which ids on disk those are.
 */
#include "walls/apart.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/launcher.h"
#include "walls/mapped_tree.h"

static int open_again(struct apart *apart, const char *folder, int mapping) {
  int tree = tree_open(folder, mapping);
  if (tree >= 0) apart->trees[apart->count++] = tree;
  return tree;
}

/* True also where there is none to open. */
static bool open_layer(struct apart *apart, const char *path, int mapping, int *fd) {
  *fd = path ? open_again(apart, path, mapping) : -1;
  return !path || *fd >= 0;
}

/* The two of an overlay have to be on one mount. */
static bool open_writable(struct apart *apart, const char *folder, int mapping, int *upper, int *work) {
  int tree = open_again(apart, folder, mapping);
  if (tree < 0) return false;
  *upper = openat(tree, "upper", O_PATH | O_CLOEXEC);
  *work = openat(tree, "work", O_PATH | O_CLOEXEC);
  return *upper >= 0 && *work >= 0;
}

static bool open_layers(struct apart *apart, struct stage_layers *s, int mapping) {
  bool opened = open_layer(apart, s->root_path, mapping, &s->root) && open_layer(apart, s->baseline_path, mapping, &s->baseline) &&
                open_layer(apart, s->bundle_path, mapping, &s->bundle) && open_layer(apart, s->socket_path, mapping, &s->socket) &&
                open_writable(apart, "root", mapping, &s->root_upper, &s->root_work) &&
                open_writable(apart, "workspace", mapping, &s->upper, &s->work);
  for (size_t i = 0; opened && i < s->layer_count; i++) opened = open_layer(apart, s->layer_paths[i], mapping, &s->layers[i]);
  s->opened = opened;
  return opened;
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

/* As they are on disk. What was opened before is closed with the process. */
static void share_ids(struct apart *apart, struct own_ids *ids) {
  note("shared %s\n", strerror(errno));
  apart->count = 0;
  close(ids->lock);
  ids->lock = -1;
}

/* SECURITY: what the kernel counts for the ids of one sandbox is no other's (G-26) */
static void give_ids(struct apart *apart, struct stage_layers *layers, struct id_map *map, struct own_ids *ids, const struct spare *spare) {
  pid_t holder = -1;
  if (spare) ids->lock = spare->parts[SPARE_LOCK];
  unsigned long own = spare ? spare->own_ids : own_ids_take(ids, map->shift_count);
  int mapping = spare ? spare->parts[SPARE_MAPPING] : mapping_open(map->shift_base, own, map->shift_count, &holder);
  if (open_layers(apart, layers, mapping)) {
    map->shift_base = own;
    note("own %lu\n", own);
  } else if (cannot_map(errno)) {
    share_ids(apart, ids);
  } else {
    fail("cannot open a layer");
  }
  close(mapping);
  if (holder > 0 && waitpid(holder, NULL, 0) < 0) fail("cannot wait");
}

void apart_open(struct apart *apart, struct stage_layers *layers, struct host_folders *folders, struct id_map *map, struct own_ids *ids, const struct spare *spare) {
  if (ids->ranges > 0 && mapping_supported()) give_ids(apart, layers, map, ids, spare);
  else note("shared %s\n", "this kernel cannot map the ids of layers");
  /* In the user namespace nobody may look past what is mounted below a folder, and an overlay of such a one is refused. */
  for (size_t i = 0; i < folders->count; i++) {
    folders->fds[i] = open_again(apart, folders->paths[i], -1);
    if (folders->fds[i] < 0) fail("cannot open %s", folders->paths[i]);
  }
  folders->opened = true;
}

void apart_attach(const struct apart *apart, const char *stage) {
  char path[64];
  if (apart->count == 0) return;
  snprintf(path, sizeof path, "%s/apart", stage);
  if (mkdir(path, 0700) < 0) fail("cannot make %s", path);
  for (size_t i = 0; i < apart->count; i++) {
    snprintf(path, sizeof path, "%s/apart/%zu", stage, i);
    tree_attach(apart->trees[i], path);
  }
}
