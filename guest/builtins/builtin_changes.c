/*
 * What /workspace changes about an earlier state of it. Where something may have changed is told by the layers in between; what it is now is
 * told by /workspace itself, so that whiteouts, opaque folders and what one layer does to another need no understanding here. The
 * work follows what the layers hold, not the size of the tree.
 *
 * The host says which folders are looked at, and how: see `enum manner`. A folder that the baseline does not have may hold all that somebody has
 * installed or built: there the host is asked first, and a folder that it does not want to see is counted, by its names alone.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/bounds.h"
#include "builtins/builtin.h"
#include "builtins/contents.h"
#include "builtins/folder.h"
#include "builtins/record_reader.h"
#include "builtins/records.h"
#include "builtins/resolve.h"
#include "builtins/view.h"

enum manner {
  ASKING = '?', /* all changes, but folders that the baseline does not have are told by an ENTRY, and not looked into */
  WHOLE = '*',  /* all changes */
  COUNTING = '#' /* how many there are */
};

static struct trail trail;
static enum manner manner;
static uint64_t left;
static uint64_t counted;

/* The status of what the baseline does not have is a small letter. */
static void add(uint8_t status, const struct stat *now, const struct stat *before, bool seeded) {
  if (manner == COUNTING) {
    counted++;
    return;
  }
  if (left == 0) return;
  left--;
  record_change(seeded ? status : (uint8_t)(status | 0x20), now, before, trail.path);
}

static bool look(int folder, const char *name, struct stat *st) {
  if (folder < 0) return false;
  if (fstatat(folder, name, st, AT_SYMLINK_NOFOLLOW) == 0) return true;
  if (errno != ENOENT && errno != ENOTDIR) give_up_on("Cannot look at", trail.path);
  return false;
}

static int try_folder(int at, const char *name) { return openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC); }

static struct names names_of(int folder) {
  struct names names;
  if (!names_read(folder, &names)) give_up_on("Cannot read the folder", trail.path);
  return names;
}

static struct names names_before(const struct view *view) {
  struct names names;
  if (!view_names(view, &names)) give_up_on("Cannot read the folder", trail.path);
  return names;
}

/* What git keeps for itself, here or in a submodule, is no change to the project; and no patch may name it. */
static bool is_git(const char *name) { return strcmp(name, ".git") == 0; }

static bool same_link(int merged, int base, const char *name) {
  char now[PATH_MAX];
  char before[PATH_MAX];
  ssize_t length = readlinkat(merged, name, now, sizeof now);
  return length >= 0 && readlinkat(base, name, before, sizeof before) == length && memcmp(now, before, (size_t)length) == 0;
}

static bool same_file(int merged, int base, const char *name) {
  struct stat st;
  int now = contents_open(merged, name, &st);
  int before = contents_open(base, name, &st);
  /* What cannot be read cannot be shown to be the same. */
  bool same = now >= 0 && before >= 0 && contents_equal(now, before);
  if (now >= 0) close(now);
  if (before >= 0) close(before);
  return same;
}

static bool is_same(int merged, int base, const char *name, const struct stat *now, const struct stat *before) {
  if ((now->st_mode & 07777) != (before->st_mode & 07777) && !S_ISLNK(now->st_mode)) return false;
  if (size_of(now) != size_of(before)) return false;
  if (S_ISLNK(now->st_mode)) return same_link(merged, base, name);
  if (S_ISREG(now->st_mode)) return same_file(merged, base, name);
  return now->st_rdev == before->st_rdev;
}

/* One folder, in all that is compared. */
struct level {
  int merged;                   /* as it is now; -1: it is not there */
  struct view base;             /* as it was */
  int seed;                     /* as the baseline has it; -1: it does not */
  int layers[MAX_LAYERS + 1];   /* of the layers that are over what it was, from the top down, as far as they show */
  size_t layer_count;
  bool hides;                   /* nothing of what it was shows through */
};

/* What the layers have of a folder below. The first that has something else there, or an opaque folder, hides the rest. */
static void descend(const struct level *above, const char *name, struct level *below) {
  below->layer_count = 0;
  below->hides = above->hides;
  for (size_t i = 0; i < above->layer_count; i++) {
    struct stat st;
    if (!look(above->layers[i], name, &st)) continue;
    if (!S_ISDIR(st.st_mode)) {
      below->hides = true;
      return;
    }
    int folder = try_folder(above->layers[i], name);
    if (folder >= 0) below->layers[below->layer_count++] = folder;
    /* One that is closed to the user may be open in a layer above: then all of it is compared. */
    if (folder < 0 || is_opaque(folder)) {
      below->hides = true;
      return;
    }
  }
}

#define SPARE_DESCRIPTORS 64u
static uint64_t descriptors_left;

/* SECURITY: a folder takes descriptors of every layer, and there are more folders than descriptors (G-10) */
static bool take_descriptors(uint64_t count) {
  if (descriptors_left < count) return false;
  descriptors_left -= count;
  return true;
}

static void count_descriptors(void) {
  struct rlimit limit;
  descriptors_left = getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur > SPARE_DESCRIPTORS + layer_count
                         ? limit.rlim_cur - SPARE_DESCRIPTORS - layer_count
                         : 0;
}

static uint64_t descriptors_for(const struct level *above) { return 2 + above->layer_count + above->base.count; }

/* A folder as it is now; -1 when there is none, or its user has closed it. */
static int folder_now(int above, const char *name, bool *closed) {
  struct stat st;
  if (!look(above, name, &st) || !S_ISDIR(st.st_mode)) return -1;
  int folder = try_folder(above, name);
  if (folder >= 0) return folder;
  *closed = errno == EACCES;
  /* What is gone since the look is not there. */
  if (!*closed && errno != ENOENT && errno != ENOTDIR && errno != ELOOP) give_up_on("Cannot read the folder", trail.path);
  return -1;
}

/* Opens a folder below. NULL when it cannot be looked into: its user has closed it, or it is too deep. */
static struct level *enter(const struct level *above, const char *name) {
  bool closed = false;
  if (!take_descriptors(descriptors_for(above))) return NULL;
  struct level *below = need(calloc(1, sizeof *below));
  below->merged = folder_now(above->merged, name, &closed);
  if (!view_enter(&above->base, name, &below->base)) {
    if (errno != EACCES) give_up_on("Cannot read the folder", trail.path);
    closed = true;
  }
  below->seed = above->seed < 0 ? -1 : try_folder(above->seed, name);
  if (!closed) descend(above, name, below);
  if (!closed) return below;
  view_leave(&below->base);
  if (below->merged >= 0) close(below->merged);
  if (below->seed >= 0) close(below->seed);
  free(below);
  descriptors_left += descriptors_for(above);
  return NULL;
}

static void leave(const struct level *above, struct level *below) {
  for (size_t i = 0; i < below->layer_count; i++) close(below->layers[i]);
  view_leave(&below->base);
  if (below->merged >= 0) close(below->merged);
  if (below->seed >= 0) close(below->seed);
  free(below);
  descriptors_left += descriptors_for(above);
}

/* The one layer that has a new folder, which is quicker to read than /workspace itself; /workspace when several do. */
static int only_layer(const struct level *level, const char *name) {
  int found = -1;
  for (size_t i = 0; i < level->layer_count; i++) {
    struct stat st;
    if (!look(level->layers[i], name, &st)) continue;
    if (found >= 0 || !S_ISDIR(st.st_mode)) return level->merged;
    found = level->layers[i];
  }
  return found < 0 ? level->merged : found;
}

#define NAMES_BYTES 16384u

static void count_names(int parent, const char *name, bool in_layer);

static void count_name(int folder, const struct dirent64 *d, bool in_layer) {
  struct stat st;
  if (strcmp(d->d_name, ".") == 0 || strcmp(d->d_name, "..") == 0 || is_git(d->d_name)) return;
  bool known = d->d_type != DT_UNKNOWN;
  if (known ? d->d_type == DT_DIR : look(folder, d->d_name, &st) && S_ISDIR(st.st_mode)) count_names(folder, d->d_name, in_layer);
  else if (!in_layer || d->d_type != DT_CHR) counted++; /* a layer has a device in the place of what is gone */
}

/* Everything but folders, by what the folders say of their names. */
static void count_names(int parent, const char *name, bool in_layer) {
  int folder = descriptors_left > 0 ? try_folder(parent, name) : -1;
  if (folder < 0) {
    counted++; /* the folder itself, as a change that cannot be told */
    return;
  }
  descriptors_left--;
  record_progress();
  char *names = need(malloc(NAMES_BYTES));
  for (ssize_t size; (size = getdents64(folder, names, NAMES_BYTES)) > 0;) {
    for (const char *at = names; at < names + size;) {
      const struct dirent64 *d = (const void *)at;
      count_name(folder, d, in_layer);
      at += d->d_reclen;
    }
  }
  free(names);
  close(folder);
  descriptors_left++;
}

static void walk(const struct level *level);

/* A folder whose changes cannot be told, for itself. The rest is told all the same: nobody hides all changes by one folder. */
static void add_closed(const struct stat *now, const struct stat *before) {
  add('M', now ? now : before, before && S_ISDIR(before->st_mode) ? before : now ? now : before, true);
}

static void compare_folder(const struct level *level, const char *name, const struct stat *now, const struct stat *before,
                           bool named) {
  bool is = now && S_ISDIR(now->st_mode);
  bool was = before && S_ISDIR(before->st_mode);
  if (manner == COUNTING && !was) {
    int source = only_layer(level, name);
    count_names(source, name, source != level->merged);
    return;
  }
  struct level *below = enter(level, name);
  if (!below) {
    add_closed(is ? now : NULL, was ? before : now);
    return;
  }
  if (manner == ASKING && below->seed < 0 && !named) {
    if (left > 0) {
      left--;
      record_entry(is ? now : before, trail.path, "");
    }
  } else {
    walk(below);
  }
  leave(level, below);
}

/* `named`: the host has asked for just this. */
static void compare(const struct level *level, const char *name, bool named) {
  struct stat now;
  struct stat before;
  int folder = -1;
  bool is = look(level->merged, name, &now);
  bool was = view_look(&level->base, name, &before, &folder);
  if (!is && !was) return;
  bool is_folder = is && S_ISDIR(now.st_mode);
  bool was_folder = was && S_ISDIR(before.st_mode);
  struct stat st;
  bool seeded = look(level->seed, name, &st);
  if (is && was && (now.st_mode & S_IFMT) != (before.st_mode & S_IFMT)) add('T', &now, &before, seeded);
  else if (is && !was && !is_folder) add('A', &now, NULL, seeded);
  else if (!is && !was_folder) add('D', NULL, &before, seeded);
  else if (is && was && !is_folder && !is_same(level->merged, folder, name, &now, &before)) add('M', &now, &before, seeded);
  if (is_folder || was_folder) compare_folder(level, name, is ? &now : NULL, was ? &before : NULL, named);
}

/* Every name in a folder that may differ, once, sorted. */
static struct names candidates(const struct level *level) {
  struct names all = {0};
  if (level->merged < 0) return names_before(&level->base);
  if (level->hides || level->base.count == 0) {
    /* Nothing shows through, so all of both sides is what there is to compare. */
    names_add(&all, names_of(level->merged));
    names_add(&all, names_before(&level->base));
  } else {
    for (size_t i = 0; i < level->layer_count; i++) names_add(&all, names_of(level->layers[i]));
  }
  names_unite(&all);
  return all;
}

static void walk(const struct level *level) {
  struct names names = candidates(level);
  bool all_told = true;
  for (size_t i = 0; i < names.count && left > 0; i++) {
    if (is_git(names.list[i])) continue;
    /* SECURITY: a tree can be deeper than any path can tell, and must not hide the rest (G-10) */
    if (!trail_fits(&trail, names.list[i])) {
      all_told = false;
      continue;
    }
    size_t back = trail_enter(&trail, names.list[i]);
    compare(level, names.list[i], false);
    trail_leave(&trail, back);
  }
  names_free(&names);
  struct stat now;
  struct stat before;
  if (all_told || trail.length == 0 || level->merged < 0 || fstat(level->merged, &now) != 0) return;
  add_closed(&now, level->base.count > 0 && fstat(level->base.folders[0], &before) == 0 ? &before : NULL);
}

/* What is at a path, which no link is followed on the way to. */
static void compare_path(const struct level *level, const char *path) {
  char name[NAME_MAX + 1];
  size_t length = strcspn(path, "/");
  if (length == 0 || length > NAME_MAX) give_up(EINVAL, "Not a path here: \"%s\"", path);
  memcpy(name, path, length);
  name[length] = 0;
  if (!trail_fits(&trail, name) || is_git(name)) return;
  size_t back = trail_enter(&trail, name);
  if (!path[length]) {
    compare(level, name, true);
  } else {
    struct level *below = enter(level, name);
    if (below) {
      compare_path(below, path + length + 1);
      leave(level, below);
    }
  }
  trail_leave(&trail, back);
}

uint64_t builtin_changes(char *const *arguments) {
  uint64_t limit = argument_number(arguments[0]);
  uint64_t layers = argument_number(arguments[1]);
  static struct level top;
  left = limit == 0 ? UINT64_MAX : limit;
  count_descriptors();
  view_open(&top.base, layers > MAX_LAYERS ? MAX_LAYERS + 1 : (size_t)layers);
  top.merged = argument_root("workspace")->fd;
  top.seed = argument_root("baseline")->fd;
  top.layers[top.layer_count++] = argument_root("upper")->fd;
  for (size_t i = layer_count; i > layers; i--) top.layers[top.layer_count++] = layer_fds[i - 1];
  for (uint8_t kind; (kind = next_kind()) != '.';) {
    static char path[PATH_MAX];
    if (kind != ASKING && kind != WHOLE && kind != COUNTING) give_up(EINVAL, "Not a manner to look at changes: %d", kind);
    manner = kind;
    next_text(path);
    if (path[0]) compare_path(&top, path);
    else walk(&top);
  }
  return counted;
}
