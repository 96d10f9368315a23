/*
 * What /workspace changes about its baseline. Where something may have changed is told by the layers in between; what it is now is
 * told by /workspace itself, so that whiteouts, opaque folders and what one layer does to another need no understanding here. The
 * work follows what the layers hold, not the size of the tree.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/bounds.h"
#include "builtins/builtin.h"
#include "builtins/contents.h"
#include "builtins/folder.h"
#include "builtins/records.h"
#include "builtins/resolve.h"

struct change {
  uint8_t status;
  struct stat now;
  struct stat before;
  char *path;
};

static struct trail trail;
static struct change *changes;
static size_t change_count;
static size_t change_capacity;

static void add(uint8_t status, const struct stat *now, const struct stat *before) {
  if (change_count == change_capacity) {
    change_capacity = change_capacity ? change_capacity * 2 : 256;
    changes = need(realloc(changes, change_capacity * sizeof *changes));
  }
  struct change *c = &changes[change_count++];
  *c = (struct change){.status = status, .path = need(strdup(trail.path))};
  if (now) c->now = *now;
  if (before) c->before = *before;
}

static bool look(int folder, const char *name, struct stat *st) {
  if (folder < 0) return false;
  if (fstatat(folder, name, st, AT_SYMLINK_NOFOLLOW) == 0) return true;
  if (errno != ENOENT && errno != ENOTDIR) give_up_on("Cannot look at", trail.path);
  return false;
}

static int try_folder(int at, const char *name) { return openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC); }

static int open_folder(int at, const char *name) {
  int fd = try_folder(at, name);
  if (fd < 0) give_up_on("Cannot read the folder", trail.path);
  return fd;
}

static struct names names_of(int folder) {
  struct names names;
  if (!names_read(folder, &names)) give_up_on("Cannot read the folder", trail.path);
  return names;
}

static bool has_mark(int folder, const char *name) {
  char value = 0;
  return fgetxattr(folder, name, &value, 1) == 1 && value == 'y';
}

/* A folder that was removed and made anew hides all of the one below it. */
static bool is_opaque(int folder) {
  return has_mark(folder, "user.overlay.opaque") || has_mark(folder, "trusted.overlay.opaque");
}

/* What git keeps for itself, here or in a submodule, is no change to the project; and no patch may name it. */
static bool is_git(const char *name) { return strcmp(name, ".git") == 0; }

/* Everything but folders in a folder of the baseline that is gone. */
static void add_deleted(int base, const char *name, const struct stat *before) {
  if (!S_ISDIR(before->st_mode)) {
    add('D', NULL, before);
    return;
  }
  int folder = open_folder(base, name);
  struct names names = names_of(folder);
  for (size_t i = 0; i < names.count; i++) {
    struct stat st;
    if (is_git(names.list[i]) || !trail_fits(&trail, names.list[i])) continue;
    size_t back = trail_enter(&trail, names.list[i]);
    if (look(folder, names.list[i], &st)) add_deleted(folder, names.list[i], &st);
    trail_leave(&trail, back);
  }
  names_free(&names);
  close(folder);
}

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

/* The folders of the layers at one path, from the top down, as far as they show. */
struct stack {
  int folders[MAX_LAYERS + 1];
  size_t count;
  bool hides; /* nothing of the baseline shows through */
};

static void push(struct stack *stack, int folder) { stack->folders[stack->count++] = folder; }

/* What the layers have of a folder below. The first that has something else there, or an opaque folder, hides the rest. */
static void descend(const struct stack *above, const char *name, struct stack *below) {
  below->count = 0;
  below->hides = above->hides;
  for (size_t i = 0; i < above->count; i++) {
    struct stat st;
    if (!look(above->folders[i], name, &st)) continue;
    if (!S_ISDIR(st.st_mode)) {
      below->hides = true;
      return;
    }
    int folder = try_folder(above->folders[i], name);
    if (folder >= 0) push(below, folder);
    /* One that is closed to the user may be open in a layer above: then all of it is compared. */
    if (folder < 0 || is_opaque(folder)) {
      below->hides = true;
      return;
    }
  }
}

static void leave(const struct stack *stack) {
  for (size_t i = 0; i < stack->count; i++) close(stack->folders[i]);
}

/* A folder whose changes cannot be told, for itself. The rest is told all the same, so that one folder cannot hide all changes. */
static void add_closed(const struct stat *now, const struct stat *before) {
  add('M', now, before && S_ISDIR(before->st_mode) ? before : now);
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

static void walk(const struct stack *stack, int merged, int base);

static void compare_folder(const struct stack *stack, int merged, int base, const char *name, const struct stat *now,
                           const struct stat *before) {
  uint64_t needed = 2 + stack->count;
  if (!take_descriptors(needed)) {
    add_closed(now, before);
    return;
  }
  int folder = try_folder(merged, name);
  if (folder < 0 && (errno == ENOENT || errno == ENOTDIR)) {
    /* Gone since the first look. */
    if (before) add_deleted(base, name, before);
    descriptors_left += needed;
    return;
  }
  if (folder < 0 && errno == EACCES) {
    /* Closed by the sandbox's user to itself. */
    add_closed(now, before);
    descriptors_left += needed;
    return;
  }
  if (folder < 0) give_up_on("Cannot read the folder", trail.path);
  struct stack *below = need(malloc(sizeof *below));
  int base_folder = before && S_ISDIR(before->st_mode) ? open_folder(base, name) : -1;
  if (before && !S_ISDIR(before->st_mode)) add('T', now, before);
  descend(stack, name, below);
  walk(below, folder, base_folder);
  leave(below);
  free(below);
  close(folder);
  if (base_folder >= 0) close(base_folder);
  descriptors_left += needed;
}

static void compare(const struct stack *stack, int merged, int base, const char *name) {
  struct stat now;
  struct stat before;
  bool is = look(merged, name, &now);
  bool was = look(base, name, &before);
  if (!is) {
    if (was) add_deleted(base, name, &before);
  } else if (S_ISDIR(now.st_mode)) {
    compare_folder(stack, merged, base, name, &now, was ? &before : NULL);
  } else if (!was) {
    add('A', &now, NULL);
  } else if ((now.st_mode & S_IFMT) != (before.st_mode & S_IFMT)) {
    add('T', &now, &before);
    if (S_ISDIR(before.st_mode)) add_deleted(base, name, &before);
  } else if (!is_same(merged, base, name, &now, &before)) {
    add('M', &now, &before);
  }
}

/* Every name in a folder that may differ, once, sorted. */
static struct names candidates(const struct stack *stack, int merged, int base) {
  struct names all = {0};
  if (stack->hides || base < 0) {
    /* Nothing shows through, so all of both sides is what there is to compare. */
    names_add(&all, names_of(merged));
    if (base >= 0) names_add(&all, names_of(base));
  } else {
    for (size_t i = 0; i < stack->count; i++) names_add(&all, names_of(stack->folders[i]));
  }
  names_unite(&all);
  return all;
}

static void walk(const struct stack *stack, int merged, int base) {
  struct names names = candidates(stack, merged, base);
  bool all_told = true;
  for (size_t i = 0; i < names.count; i++) {
    if (is_git(names.list[i])) continue;
    /* SECURITY: deeper than a path can tell, a tree can be made all the same, and must not hide the rest (G-10) */
    if (!trail_fits(&trail, names.list[i])) {
      all_told = false;
      continue;
    }
    size_t back = trail_enter(&trail, names.list[i]);
    compare(stack, merged, base, names.list[i]);
    trail_leave(&trail, back);
  }
  names_free(&names);
  struct stat now;
  struct stat before;
  if (all_told || trail.length == 0 || fstat(merged, &now) != 0) return;
  add_closed(&now, base >= 0 && fstat(base, &before) == 0 ? &before : NULL);
}

static int by_path(const void *a, const void *b) {
  return strcmp(((const struct change *)a)->path, ((const struct change *)b)->path);
}

uint64_t builtin_changes(char *const *arguments) {
  uint64_t limit = argument_number(arguments[0]);
  struct stack stack = {0};
  count_descriptors();
  push(&stack, argument_root("upper")->fd);
  for (size_t i = layer_count; i > 0; i--) push(&stack, layer_fds[i - 1]);
  walk(&stack, argument_root("workspace")->fd, argument_root("baseline")->fd);
  if (change_count) qsort(changes, change_count, sizeof *changes, by_path);
  for (size_t i = 0; i < change_count && (limit == 0 || i < limit); i++) {
    const struct change *c = &changes[i];
    record_change(c->status, c->status == 'D' ? NULL : &c->now, c->status == 'A' ? NULL : &c->before, c->path);
  }
  return 0;
}
