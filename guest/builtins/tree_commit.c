#include "builtins/tree_commit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "builtins/folder.h"
#include "builtins/records.h"
#include "builtins/staging.h"
#include "builtins/tree_undo.h"

/* Folders that were made; they get their mode and time at the end: a read-only one could not be filled. */
struct made {
  struct made *next;
  const struct tree_step *step; /* NULL: only on the way to another */
  bool gone;                    /* removed again by a later step */
  char path[];
};

static int base = -1;
static struct made *made;
static int parent = -1; /* of the present step; kept, as members of a folder follow each other */
static char *parent_path;

static void roll_back(void) {
  /* What could not be put back is left where it can be found. */
  if (undo_all(base)) staging_discard();
}

static void forget_parent(void) {
  if (parent >= 0) close(parent);
  parent = -1;
  free(parent_path);
  parent_path = NULL;
}

static void refuse(const struct tree_step *s) __attribute__((noreturn));
static void refuse(const struct tree_step *s) {
  if (errno == ELOOP) give_up(ELOOP, "\"%s\" passes through a link", s->shown);
  if (errno == ENOTDIR) give_up(ENOTDIR, "A part of \"%s\" is not a folder", s->shown);
  give_up_on(s->type == 'R' ? "Cannot remove" : "Cannot write", s->shown);
}

static void make_folder(int at, const char *name, const char *path, size_t length, const struct tree_step *step, const char *shown) {
  struct made *one = need(malloc(sizeof *one + length + 1));
  *one = (struct made){.next = made, .step = step};
  memcpy(one->path, path, length);
  one->path[length] = 0;
  if (mkdirat(at, name, step ? 0700 : 0755) != 0) give_up_on("Cannot make the folder of", shown);
  undo_remember(MADE_FOLDER, one->path, 0, NULL);
  made = one;
}

/* Makes what is missing on the way to a path. */
static void make_way(const struct tree_step *s) {
  for (const char *slash = strchr(s->path, '/'); slash; slash = strchr(slash + 1, '/')) {
    char *upto = need(strndup(s->path, (size_t)(slash - s->path)));
    const char *name;
    struct stat st;
    int at = open_parent(base, upto, &name);
    if (at < 0) refuse(s);
    if (fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) != 0) {
      if (errno != ENOENT) refuse(s);
      make_folder(at, name, upto, strlen(upto), NULL, s->shown);
    }
    close(at);
    free(upto);
  }
}

/* Sets `parent` and returns the name there. */
static const char *find_parent(const struct tree_step *s) {
  const char *slash = strrchr(s->path, '/');
  const char *name = slash ? slash + 1 : s->path;
  size_t length = slash ? (size_t)(slash - s->path) : 0;
  if (parent >= 0 && strlen(parent_path) == length && memcmp(parent_path, s->path, length) == 0) return name;
  forget_parent();
  parent = open_parent(base, s->path, &name);
  if (parent < 0 && errno == ENOENT && s->type != 'R') {
    make_way(s);
    parent = open_parent(base, s->path, &name);
  }
  if (parent < 0) refuse(s);
  parent_path = need(strndup(s->path, length));
  return name;
}

static void set_aside(int at, const char *name, const char *path, const char *shown) {
  char staged[STAGED_NAME];
  size_t number = staging_next();
  staging_name(number, staged);
  if (renameat(at, name, staging_folder(), staged) != 0) give_up_on("Cannot set aside", shown);
  undo_remember(SET_ASIDE, path, number, NULL);
}

static bool try_set_aside_folder(int at, const char *name, const char *path) {
  char staged[STAGED_NAME];
  size_t number = staging_next();
  staging_name(number, staged);
  if (renameat(at, name, staging_folder(), staged) != 0) return false;
  undo_remember(SET_ASIDE, path, number, NULL);
  return true;
}

/* A folder of a lower layer cannot be renamed (EXDEV): then what is in it goes one by one, and comes back so. */
static void take_away(struct trail *trail, int at, const char *name, const struct tree_step *s, dev_t device) {
  struct stat st;
  struct names names;
  if (fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) != 0) refuse(s);
  if (!S_ISDIR(st.st_mode)) {
    set_aside(at, name, trail->path, s->shown);
    return;
  }
  /* SECURITY: a mounted folder is somebody else's tree (G-16) */
  if (st.st_dev != device) give_up(EBUSY, "Cannot remove \"%s\": something is mounted there", s->shown);
  if (try_set_aside_folder(at, name, trail->path)) return;
  if (errno != EXDEV) refuse(s);
  undo_remember(EMPTYING, trail->path, 0, &st);
  int folder = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (folder < 0 || !names_read(folder, &names)) refuse(s);
  for (size_t i = 0; i < names.count; i++) {
    size_t back = trail_enter(trail, names.list[i]);
    take_away(trail, folder, names.list[i], s, device);
    trail_leave(trail, back);
  }
  names_free(&names);
  close(folder);
  if (unlinkat(at, name, AT_REMOVEDIR) != 0) refuse(s);
  undo_remember(REMOVED_FOLDER, trail->path, 0, NULL);
}

static void do_removal(const struct tree_step *s) {
  static struct trail trail;
  struct stat st;
  size_t length = strlen(s->path);
  const char *name = find_parent(s);
  if (fstatat(parent, name, &st, AT_SYMLINK_NOFOLLOW) != 0 && errno == ENOENT) {
    give_up(ENOENT, "\"%s\" does not exist", s->shown);
  }
  if (fstat(parent, &st) != 0) refuse(s);
  trail = (struct trail){0};
  (void)trail_enter(&trail, s->path);
  take_away(&trail, parent, name, s, st.st_dev);
  for (struct made *one = made; one; one = one->next) {
    bool below = strncmp(one->path, s->path, length) == 0 && (one->path[length] == 0 || one->path[length] == '/');
    if (below) one->gone = true;
  }
  forget_parent();
}

static void do_folder(const struct tree_step *s) {
  struct stat st;
  const char *name = find_parent(s);
  if (fstatat(parent, name, &st, AT_SYMLINK_NOFOLLOW) != 0) {
    if (errno != ENOENT) refuse(s);
    make_folder(parent, name, s->path, strlen(s->path), s, s->shown);
    return;
  }
  if (!S_ISDIR(st.st_mode)) give_up(ENOTDIR, "\"%s\" is not a folder", s->shown);
  /* One that was made on the way here is new, whatever came first. */
  for (struct made *one = made; one; one = one->next) {
    if (!one->gone && !one->step && strcmp(one->path, s->path) == 0) one->step = s;
  }
}

static bool lacks_flags(void) { return errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP; }

static void put_in_place(const struct tree_step *s, const char *name, const char *staged) {
  int staging = staging_folder();
  int failed = renameat2(staging, staged, parent, name, RENAME_NOREPLACE);
  if (failed && lacks_flags()) failed = renameat(staging, staged, parent, name);
  if (failed) refuse(s);
  undo_remember(PLACED, s->path, s->number, NULL);
}

static void do_leaf(const struct tree_step *s) {
  struct stat st;
  char staged[STAGED_NAME];
  const char *name = find_parent(s);
  staging_name(s->number, staged);
  if (fstatat(parent, name, &st, AT_SYMLINK_NOFOLLOW) != 0) {
    if (errno != ENOENT) refuse(s);
    put_in_place(s, name, staged);
    return;
  }
  if (S_ISDIR(st.st_mode)) give_up(EISDIR, "\"%s\" is a folder", s->shown);
  /* In one step, so that nobody finds it missing. */
  if (renameat2(staging_folder(), staged, parent, name, RENAME_EXCHANGE) == 0) {
    undo_remember(SWAPPED, s->path, s->number, NULL);
    return;
  }
  if (!lacks_flags()) refuse(s);
  set_aside(parent, name, s->path, s->shown);
  put_in_place(s, name, staged);
}

/* The newest first, so that a folder is closed after all that is in it. */
static void finish_folders(void) {
  for (const struct made *one = made; one; one = one->next) {
    const struct tree_step *s = one->step;
    const char *name;
    if (one->gone || !s) continue;
    struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, s->mtime};
    int at = open_parent(base, one->path, &name);
    int folder = at < 0 ? -1 : openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder < 0 || futimens(folder, times) != 0 || fchmod(folder, s->mode) != 0) give_up_on("Cannot set the mode of", s->shown);
    close(folder);
    close(at);
  }
}

void tree_commit(int folder, const struct tree_step *steps) {
  base = folder;
  before_giving_up(roll_back);
  for (const struct tree_step *s = steps; s; s = s->next) {
    record_progress();
    if (s->path[0] == 0) {
      if (s->type != 'd') give_up(EISDIR, "\"%s\" is a folder", s->shown);
    } else if (s->type == 'R') {
      do_removal(s);
    } else if (s->type == 'd') {
      do_folder(s);
    } else {
      do_leaf(s);
    }
  }
  finish_folders();
  before_giving_up(NULL);
  forget_parent();
  staging_discard();
}
