#include "builtins/tree_undo.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "builtins/records.h"
#include "builtins/staging.h"

struct done {
  struct done *before;
  enum deed deed;
  size_t number;
  mode_t mode;
  struct timespec mtime;
  char path[];
};

static struct done *newest;

void undo_remember(enum deed deed, const char *path, size_t number, const struct stat *before) {
  size_t length = strlen(path) + 1;
  struct done *d = need(malloc(sizeof *d + length));
  *d = (struct done){.before = newest, .deed = deed, .number = number};
  if (before) {
    d->mode = before->st_mode & 07777;
    d->mtime = before->st_mtim;
  }
  memcpy(d->path, path, length);
  newest = d;
}

/* SECURITY: walked part by part and no link is followed, so that none can be aimed elsewhere (G-11) */
int open_parent(int base, const char *path, const char **name) {
  char part[NAME_MAX + 1];
  int at = openat(base, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
  for (const char *slash; at >= 0 && (slash = strchr(path, '/')); path = slash + 1) {
    struct stat st;
    size_t length = (size_t)(slash - path);
    if (length > NAME_MAX) {
      close(at);
      errno = ENAMETOOLONG;
      return -1;
    }
    memcpy(part, path, length);
    part[length] = 0;
    int below = openat(at, part, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    int error = errno;
    if (below < 0 && fstatat(at, part, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(st.st_mode)) error = ELOOP;
    close(at);
    errno = error;
    at = below;
  }
  *name = path;
  return at;
}

static bool restore_folder(int parent, const char *name, const struct done *d) {
  struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, d->mtime};
  int folder = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (folder < 0) return false;
  bool good = futimens(folder, times) == 0;
  good = fchmod(folder, d->mode) == 0 && good;
  close(folder);
  return good;
}

static bool take_back(int base, const struct done *d) {
  char staged[STAGED_NAME];
  const char *name;
  int staging = staging_folder();
  int parent = open_parent(base, d->path, &name);
  if (parent < 0) return false;
  bool good = false;
  staging_name(d->number, staged);
  switch (d->deed) {
    case MADE_FOLDER:
      good = unlinkat(parent, name, AT_REMOVEDIR) == 0;
      break;
    case PLACED:
      good = renameat(parent, name, staging, staged) == 0;
      break;
    case SWAPPED:
      good = renameat2(parent, name, staging, staged, RENAME_EXCHANGE) == 0;
      break;
    case SET_ASIDE:
      good = renameat(staging, staged, parent, name) == 0;
      break;
    case REMOVED_FOLDER:
      good = mkdirat(parent, name, 0700) == 0;
      break;
    case EMPTYING:
      good = restore_folder(parent, name, d);
      break;
  }
  close(parent);
  return good;
}

bool undo_all(int base) {
  bool good = true;
  for (const struct done *d = newest; d; d = d->before) {
    const char *name;
    /* One that has its mode already may be closed to us. */
    int parent = d->deed == MADE_FOLDER ? open_parent(base, d->path, &name) : -1;
    if (parent < 0) continue;
    if (fchmodat(parent, name, 0700, 0) != 0) good = false;
    close(parent);
  }
  for (const struct done *d = newest; d; d = d->before) {
    record_progress();
    good = take_back(base, d) && good;
  }
  return good;
}
