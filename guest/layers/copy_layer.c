/*
 * A copy of what a sandbox has written, to be a layer of later ones. The sandbox may be running, and may try to have something
 * else copied: so nothing here is reached by a path.
 */
#include "layers/copy_layer.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/launcher.h"
#include "layers/copy_file.h"
#include "layers/descent.h"
#include "layers/layer_place.h"
#include "layers/layer_walk.h"
#include "layers/room.h"
#include "layers/shelf.h"
#include "layers/twins.h"
#include "walls/idmap.h"

#define BLOCK_BYTES 512u /* of `st_blocks`, whatever the disk has */

struct copy_options {
  struct id_map map;
  const char *from_path;
  const char *to_path;
  int from;
  int to;
};

static uint64_t total;
static struct descent target;

static void enter_folder(int folder, const char *name) {
  (void)folder;
  if (!*name) return; /* the layer itself, which is there */
  int to = descent_here(&target);
  room_take(to, ROOM_OF_A_NAME);
  if (mkdirat(to, name, 0700) != 0) fail("cannot make the folder %s", name);
  int below = place_open(to, name, O_DIRECTORY);
  if (below < 0) fail("cannot open the folder %s", name);
  descent_enter(&target, below);
}

static void leave_folder(int folder, const char *name) {
  struct stat st;
  int to = descent_here(&target);
  if (!*name) shelf_clear();
  if (fstat(folder, &st) != 0 || !copy_attributes(folder, to) || !copy_metadata(to, &st)) {
    fail("cannot copy the folder %s", *name ? name : ".");
  }
  descent_leave(&target);
}

static void copy_open(int source, int to, const char *name, struct stat *st) {
  uint64_t bytes = 0;
  int file = openat(to, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (file < 0) fail("cannot make %s", name);
  room_take(to, (uint64_t)st->st_blocks * BLOCK_BYTES);
  bool good = copy_content(source, file, st, &bytes) && copy_attributes(source, file) && copy_metadata(file, st);
  if (!good || close(file) != 0) fail("cannot copy %s", name);
  total += bytes;
}

/* SECURITY: what has many names is copied once, or a small layer would become a large one (G-15) */
static enum outcome copy_regular(int from, int to, const char *name) {
  struct stat st;
  int source = place_open(from, name, 0);
  if (source < 0 && place_was_swapped()) return CHANGED;
  if (source < 0 || fstat(source, &st) != 0) fail("cannot open %s", name);
  bool regular = S_ISREG(st.st_mode);
  if (regular && !shelf_place(twin_of(&st), to, name)) {
    copy_open(source, to, name, &st);
    if (st.st_nlink > 1) {
      (void)twin_remember(&st);
      shelf_keep(to, name);
    }
  }
  close(source);
  return regular ? TAKEN : CHANGED;
}

static enum outcome copy_link(int from, int to, const char *name, const struct stat *st) {
  char text[PATH_MAX];
  struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, st->st_mtim};
  ssize_t length = readlinkat(from, name, text, sizeof text - 1);
  if (length < 0 && (errno == EINVAL || place_was_swapped())) return CHANGED;
  if (length < 0) fail("cannot read the link %s", name);
  text[length] = 0;
  if (symlinkat(text, to, name) != 0) fail("cannot make the link %s", name);
  if (fchownat(to, name, st->st_uid, st->st_gid, AT_SYMLINK_NOFOLLOW) != 0) fail("cannot copy the link %s", name);
  (void)utimensat(to, name, times, AT_SYMLINK_NOFOLLOW);
  return TAKEN;
}

static enum outcome take(int from, const char *name, const struct stat *st) {
  int to = descent_here(&target);
  room_take(to, ROOM_OF_A_NAME);
  if (S_ISREG(st->st_mode)) return copy_regular(from, to, name);
  if (S_ISLNK(st->st_mode)) return copy_link(from, to, name, st);
  /* A whiteout, which any user may make; sockets and pipes mean nothing without the process that made them. */
  bool whiteout = S_ISCHR(st->st_mode) && st->st_rdev == makedev(0, 0);
  if (whiteout && mknodat(to, name, S_IFCHR, makedev(0, 0)) != 0) fail("cannot mark %s as removed", name);
  return TAKEN;
}

/* By the user, who alone may pass the folders above. */
static void open_folders(void *argument) {
  struct copy_options *o = argument;
  o->from = open_path(o->from_path);
  o->to = open_path(o->to_path);
}

static void read_options(char **argv, struct copy_options *o) {
  for (char **at = argv + 1; *at;) {
    int taken = id_map_option(&o->map, at);
    if (taken == 0 && at[1] && strcmp(*at, "--from") == 0) {
      o->from_path = at[1];
      taken = 2;
    } else if (taken == 0 && at[1] && strcmp(*at, "--to") == 0) {
      o->to_path = at[1];
      taken = 2;
    }
    if (taken == 0) {
      errno = EINVAL;
      fail("unknown option %s", *at);
    }
    at += taken;
  }
  if (!o->from_path || !o->to_path) fail_usage("missing option");
  if (!o->map.single && o->map.shift_count == 0) fail_usage("no user ids to copy as");
}

int copy_layer_main(int argc, char **argv) {
  (void)argc;
  struct copy_options options = {.from = -1, .to = -1};
  read_options(argv, &options);
  place_raise_descriptors();
  umask(0);
  /* SECURITY: as the sandbox's root, who owns nothing else on the host, so that even a trick could read no file of the user (G-01) */
  id_map_enter(&options.map, 0, open_folders, &options);
  /* By the sandbox's root, who alone may look into what the sandbox has closed. */
  options.from = place_reopen(options.from, options.from_path);
  options.to = place_reopen(options.to, options.to_path);
  descent_enter(&target, options.to);
  shelf_open(options.to);
  layer_walk(options.from, &(struct layer_visitor){enter_folder, leave_folder, take});
  if (printf("%llu\n", (unsigned long long)total) < 0 || fflush(stdout) != 0) fail("cannot tell the size");
  return 0;
}
