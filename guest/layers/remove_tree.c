/*
 * `cloche-guest remove [--is DEVICE:INODE] FOLDER NAME`: removes what has that name in a folder of the host, with all below it.
 *
 * The author of the tree may have nested it deeper than a path or a process's descriptors reach, closed folders to their owner, and be renaming and
 * linking while it goes. So nothing is reached by a path: every folder is opened by its name in one that is open.
 */
#include "layers/remove_tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/launcher.h"

#define MAX_DEPTH 100 /* each level takes a descriptor; what is deeper is moved up first */
#define MAX_PASSES 100
#define EXIT_MOUNTED 3
#define EXIT_FOREIGN 4

/* As `struct open_how` and what belongs to it, which not every libc has. */
struct how_to_open {
  uint64_t flags, mode, resolve;
};
#define NO_OTHER_MOUNT 0x01u
#define NO_LINKS 0x04u

static int top = -1; /* the folder that is removed */
static unsigned long moved; /* folders that were moved up to it */

static void refuse(int code, const char *reason) {
  dprintf(STDERR_FILENO, "%s\n", reason);
  _exit(code);
}

static void refuse_mount(void) { refuse(EXIT_MOUNTED, "something is mounted there"); }

static unsigned long mount_of(int fd) {
  char path[64], line[256];
  unsigned long id = 0;
  snprintf(path, sizeof path, "/proc/self/fdinfo/%d", fd);
  FILE *file = fopen(path, "re");
  if (!file) fail("cannot tell what is mounted");
  while (fgets(line, sizeof line, file) && sscanf(line, "mnt_id: %lu", &id) != 1) continue;
  (void)fclose(file);
  return id;
}

/* For a kernel that cannot refuse by itself. */
static int open_and_compare(int folder, const char *name, int flags) {
  struct stat outer, inner;
  int fd = openat(folder, name, flags);
  if (fd < 0) return -1;
  if (fstat(folder, &outer) != 0 || fstat(fd, &inner) != 0) fail("cannot look at a folder");
  if (outer.st_dev != inner.st_dev || mount_of(folder) != mount_of(fd)) refuse_mount();
  return fd;
}

/* SECURITY: neither a link nor what is mounted, be it of the same file system, is entered (G-16) */
static int open_below(int folder, const char *name, int flags) {
  static bool old_kernel;
  int wanted = flags | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  struct how_to_open how = {.flags = (uint64_t)(unsigned)wanted, .resolve = NO_OTHER_MOUNT | NO_LINKS};
  if (!old_kernel) {
    int fd = (int)syscall(SYS_openat2, folder, name, &how, sizeof how);
    if (fd >= 0) return fd;
    if (errno == EXDEV) refuse_mount();
    if (errno != ENOSYS && errno != EPERM) return -1;
    old_kernel = true; /* or a filter that does not know the call */
  }
  return open_and_compare(folder, name, wanted);
}

/* Through the descriptor, because a name may stand for something else by now. */
static void open_up(int folder) {
  char path[64];
  snprintf(path, sizeof path, "/proc/self/fd/%d", folder);
  (void)chmod(path, 0700); /* what counts is whether it can be emptied */
}

/* -1 with errno. A folder may be closed to its own owner, as an overlay's work folder is. */
static int enter(int folder, const char *name) {
  struct stat st;
  int fd = open_below(folder, name, O_RDONLY);
  if (fd < 0 && errno == EACCES) {
    int place = open_below(folder, name, O_PATH);
    if (place < 0) return -1;
    open_up(place);
    fd = openat(place, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    close(place);
  }
  if (fd >= 0 && geteuid() != 0 && fstat(fd, &st) == 0 && (st.st_mode & 0700) != 0700) open_up(fd);
  return fd;
}

static void move_up(int folder, const char *name) {
  char place[64];
  do {
    snprintf(place, sizeof place, ".cloche-deep-%lu", moved++);
  } while (faccessat(top, place, F_OK, AT_SYMLINK_NOFOLLOW) == 0);
  if (renameat(folder, name, top, place) != 0) fail("cannot remove a folder that is nested deeply");
}

static void empty_wholly(int folder, unsigned depth);

/* Whether it was there. */
static bool remove_one(int folder, const char *name, bool is_folder, unsigned depth) {
  if (!is_folder) {
    if (unlinkat(folder, name, 0) == 0) return true;
    if (errno == ENOENT) return false;
    if (errno == EBUSY) refuse_mount();
    if (errno != EISDIR && errno != EPERM) fail("cannot remove a file");
  }
  if (unlinkat(folder, name, AT_REMOVEDIR) == 0) return true;
  if (errno == ENOENT) return false;
  if (errno == ENOTDIR) return true; /* something else by now, which the next pass takes */
  if (errno == EBUSY) refuse_mount();
  if (errno != ENOTEMPTY && errno != EEXIST) fail("cannot remove a folder");
  if (depth >= MAX_DEPTH) {
    move_up(folder, name);
    return true;
  }
  int inner = enter(folder, name);
  if (inner < 0 && (errno == ENOENT || errno == ENOTDIR || errno == ELOOP)) return true;
  if (inner < 0) fail("cannot open a folder");
  empty_wholly(inner, depth + 1);
  close(inner);
  if (unlinkat(folder, name, AT_REMOVEDIR) != 0 && errno != ENOENT && errno != ENOTDIR) fail("cannot remove a folder");
  return true;
}

/* Removes all that is in a folder; false when nothing was. */
static bool empty(int folder, unsigned depth) {
  bool found = false;
  int own = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *entries = own < 0 ? NULL : fdopendir(own);
  if (!entries) fail("cannot read a folder");
  for (struct dirent *d; errno = 0, (d = readdir(entries));) {
    if (strcmp(d->d_name, ".") == 0 || strcmp(d->d_name, "..") == 0) continue;
    if (remove_one(folder, d->d_name, d->d_type == DT_DIR, depth)) found = true;
  }
  if (errno != 0) fail("cannot read a folder");
  closedir(entries);
  return found;
}

/* Again as long as there is something: a file system may leave names out while others go. Not for ever, where somebody makes new ones. */
static void empty_wholly(int folder, unsigned depth) {
  unsigned passes = 0;
  unsigned long before = moved;
  while (empty(folder, depth)) {
    passes = moved == before ? passes + 1 : 0;
    before = moved;
    if (passes > MAX_PASSES) {
      errno = ENOTEMPTY;
      fail("cannot empty a folder");
    }
  }
}

/* Whether nobody but this user and root gets through a folder. */
static bool is_closed(const struct stat *st) { return (st->st_uid == 0 || st->st_uid == geteuid()) && (st->st_mode & 0011) == 0; }

/* Opens a folder by a path without links, and tells whether one on the way is closed. -1 when it is not there. */
static int open_parent(char *path, bool *closed) {
  struct stat st;
  int folder = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) fail("cannot open /");
  for (char *rest = path, *name; (name = strtok_r(rest, "/", &rest));) {
    /* SECURITY: a folder above that is swapped for a link does not lead us elsewhere (G-16) */
    int next = openat(folder, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (next < 0 && errno == ENOENT) return -1;
    if (next < 0 || fstat(next, &st) != 0) fail("cannot open %s", name);
    *closed = *closed || is_closed(&st);
    close(folder);
    folder = next;
  }
  return folder;
}

static void require_identity(const struct stat *st, const char *wanted) {
  char identity[64];
  snprintf(identity, sizeof identity, "%llu:%llu", (unsigned long long)st->st_dev, (unsigned long long)st->st_ino);
  if (wanted && strcmp(identity, wanted) != 0) refuse(EXIT_FOREIGN, "something else has its name now");
}

static void remove_top(int parent, const char *name, bool closed, const char *identity) {
  struct stat st, now;
  if (fstatat(parent, name, &st, AT_SYMLINK_NOFOLLOW) != 0) {
    if (errno == ENOENT) return;
    fail("cannot look at it");
  }
  if (S_ISDIR(st.st_mode)) {
    top = enter(parent, name);
    if (top < 0 || fstat(top, &st) != 0) fail("cannot open it");
  }
  require_identity(&st, identity);
  /* SECURITY: where others can put things, only what is this user's own goes (G-16, G-24) */
  if (!closed && st.st_uid != geteuid()) refuse(EXIT_FOREIGN, "it belongs to another user");
  if (top < 0) {
    if (unlinkat(parent, name, 0) != 0 && errno != ENOENT) fail("cannot remove it");
    return;
  }
  /* SECURITY: from here on nobody else comes in by a path (G-24) */
  if (!closed && fchmod(top, 0700) != 0) fail("cannot close it");
  empty_wholly(top, 0);
  /* SECURITY: of what was put in its place meanwhile nothing goes (G-24) */
  if (fstatat(parent, name, &now, AT_SYMLINK_NOFOLLOW) != 0 || now.st_ino != st.st_ino || now.st_dev != st.st_dev)
    refuse(EXIT_FOREIGN, "something else has its name now");
  if (unlinkat(parent, name, AT_REMOVEDIR) != 0 && errno != ENOENT) fail("cannot remove it");
}

int remove_tree_main(int argc, char **argv) {
  bool closed = false;
  const char *identity = NULL;
  char **words = argv + 1;
  if (argc == 5 && strcmp(words[0], "--is") == 0) {
    identity = words[1];
    words += 2;
  } else if (argc != 3) fail_usage("missing argument");
  int parent = open_parent(words[0], &closed);
  if (parent >= 0) remove_top(parent, words[1], closed, identity);
  return 0;
}
