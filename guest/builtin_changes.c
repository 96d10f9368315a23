/* What the writable layer of /workspace changes about the baseline below it. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "builtin.h"
#include "contents.h"
#include "folder.h"
#include "records.h"
#include "resolve.h"

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

static int open_folder(int at, const char *name) {
  int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) give_up_on("Cannot read the folder", trail.path);
  return fd;
}

static struct names names_of(int folder) {
  struct names names;
  if (!names_read(folder, &names)) give_up_on("Cannot read the folder", trail.path);
  return names;
}

static bool is_whiteout(const struct stat *st) { return S_ISCHR(st->st_mode) && st->st_rdev == makedev(0, 0); }

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
    if (is_git(names.list[i])) continue;
    size_t back = trail_enter(&trail, names.list[i]);
    if (look(folder, names.list[i], &st)) add_deleted(folder, names.list[i], &st);
    trail_leave(&trail, back);
  }
  names_free(&names);
  close(folder);
}

static bool same_link(int upper, int base, const char *name) {
  char now[PATH_MAX];
  char before[PATH_MAX];
  place_link(upper, name, now);
  place_link(base, name, before);
  return strcmp(now, before) == 0;
}

static bool same_file(int upper, int base, const char *name) {
  struct stat st;
  int now = contents_open(upper, name, &st);
  int before = contents_open(base, name, &st);
  /* What cannot be read cannot be shown to be the same. */
  bool same = now >= 0 && before >= 0 && contents_equal(now, before);
  if (now >= 0) close(now);
  if (before >= 0) close(before);
  return same;
}

static bool is_same(int upper, int base, const char *name, const struct stat *now, const struct stat *before) {
  if ((now->st_mode & 07777) != (before->st_mode & 07777) && !S_ISLNK(now->st_mode)) return false;
  if (size_of(now) != size_of(before)) return false;
  if (S_ISLNK(now->st_mode)) return same_link(upper, base, name);
  if (S_ISREG(now->st_mode)) return same_file(upper, base, name);
  return now->st_rdev == before->st_rdev;
}

static void walk(int upper, int base);

static void compare_folder(int upper, int base, const char *name, const struct stat *now, const struct stat *before) {
  int folder = open_folder(upper, name);
  int below = before && S_ISDIR(before->st_mode) ? open_folder(base, name) : -1;
  if (before && !S_ISDIR(before->st_mode)) add('T', now, before);
  walk(folder, below);
  close(folder);
  if (below >= 0) close(below);
}

static void compare(int upper, int base, const char *name) {
  struct stat now;
  struct stat before;
  if (!look(upper, name, &now)) return;
  bool was = look(base, name, &before);
  if (is_whiteout(&now)) {
    if (was) add_deleted(base, name, &before);
  } else if (S_ISDIR(now.st_mode)) {
    compare_folder(upper, base, name, &now, was ? &before : NULL);
  } else if (!was) {
    add('A', &now, NULL);
  } else if ((now.st_mode & S_IFMT) != (before.st_mode & S_IFMT)) {
    add('T', &now, &before);
    if (S_ISDIR(before.st_mode)) add_deleted(base, name, &before);
  } else if (!is_same(upper, base, name, &now, &before)) {
    add('M', &now, &before);
  }
}

/* What an opaque folder hides and does not have itself. */
static void add_hidden(int upper, int base) {
  struct names names = names_of(base);
  for (size_t i = 0; i < names.count; i++) {
    struct stat st;
    if (is_git(names.list[i])) continue;
    size_t back = trail_enter(&trail, names.list[i]);
    if (!look(upper, names.list[i], &st) && look(base, names.list[i], &st)) add_deleted(base, names.list[i], &st);
    trail_leave(&trail, back);
  }
  names_free(&names);
}

static void walk(int upper, int base) {
  struct names names = names_of(upper);
  for (size_t i = 0; i < names.count; i++) {
    if (is_git(names.list[i])) continue;
    size_t back = trail_enter(&trail, names.list[i]);
    compare(upper, base, names.list[i]);
    trail_leave(&trail, back);
  }
  names_free(&names);
  if (base >= 0 && is_opaque(upper)) add_hidden(upper, base);
}

static int by_path(const void *a, const void *b) {
  return strcmp(((const struct change *)a)->path, ((const struct change *)b)->path);
}

uint64_t builtin_changes(char *const *arguments) {
  uint64_t limit = argument_number(arguments[0]);
  walk(argument_root("upper")->fd, argument_root("baseline")->fd);
  if (change_count) qsort(changes, change_count, sizeof *changes, by_path);
  for (size_t i = 0; i < change_count && (limit == 0 || i < limit); i++) {
    const struct change *c = &changes[i];
    record_change(c->status, c->status == 'D' ? NULL : &c->now, c->status == 'A' ? NULL : &c->before, c->path);
  }
  return 0;
}
