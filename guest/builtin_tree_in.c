#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bounds.h"
#include "builtin.h"
#include "record_reader.h"
#include "records.h"
#include "resolve.h"
#include "sink.h"

/* Folders get their mode and time at the end: a read-only one could not be filled. */
struct made {
  struct made *next;
  uint32_t mode;
  struct timespec mtime;
  char path[];
};

static struct place target;
static int base = -1;          /* the folder at the target */
static int parent = -1;        /* of the present member; kept, as members of a folder follow each other */
static char parent_path[PATH_MAX];
static struct made *made;

static int open_folder(int at, const char *name) { return openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC); }

/* SECURITY: members are walked part by part and no link is followed, so none can be aimed elsewhere (G-11) */
static int enter(int at, const char *name, const char *path) {
  struct stat st;
  int fd = open_folder(at, name);
  if (fd < 0 && errno == ENOENT && mkdirat(at, name, 0755) == 0) fd = open_folder(at, name);
  if (fd >= 0) return fd;
  if (fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(st.st_mode)) {
    give_up(ELOOP, "The member \"%s\" passes through a link", path);
  }
  give_up_on("Cannot enter the folder of", path);
}

static void check_part(const char *part, const char *path) {
  bool wrong = part[0] == 0 || strcmp(part, ".") == 0 || strcmp(part, "..") == 0 || strlen(part) > NAME_MAX;
  if (wrong) give_up(EINVAL, "The member \"%s\" has a path that is not allowed", path);
}

static void open_base(void) {
  if (base >= 0) return;
  base = enter(target.parent, target.name, "");
}

/* Sets `parent` to the folder of a member and returns its name there. */
static const char *find_parent(const char *path) {
  char parts[PATH_MAX];
  const char *slash = strrchr(path, '/');
  const char *name = slash ? slash + 1 : path;
  size_t length = slash ? (size_t)(slash - path) : 0;
  check_part(name, path);
  if (parent >= 0 && strlen(parent_path) == length && memcmp(parent_path, path, length) == 0) return name;
  open_base();
  int at = openat(base, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (at < 0) give_up_on("Cannot enter the folder of", path);
  memcpy(parts, path, length);
  parts[length] = 0;
  for (char *rest = parts; slash && rest;) {
    char *part = rest;
    rest = strchr(rest, '/');
    if (rest) *rest++ = 0;
    check_part(part, path);
    int below = enter(at, part, path);
    close(at);
    at = below;
  }
  if (parent >= 0) close(parent);
  parent = at;
  memcpy(parent_path, path, length);
  parent_path[length] = 0;
  return name;
}

static void remember(const struct member *m) {
  struct made *one = need(malloc(sizeof *one + strlen(m->path) + 1));
  *one = (struct made){.next = made, .mode = m->mode, .mtime = m->mtime};
  memcpy(one->path, m->path, strlen(m->path) + 1);
  made = one;
}

static void take_folder(const struct member *m, int at, const char *name) {
  struct stat st;
  bool there = fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
  if (there && S_ISDIR(st.st_mode)) return;
  if (there && unlinkat(at, name, 0) != 0) give_up_on("Cannot replace", m->path);
  if (mkdirat(at, name, 0700) != 0) give_up_on("Cannot make the folder", m->path);
  remember(m);
}

static uint64_t take_content(const struct member *m) {
  static char bytes[CHUNK_BYTES];
  uint64_t total = 0;
  for (uint8_t kind; (kind = next_kind()) != 'Z';) {
    if (kind != 'B') give_up(EINVAL, "The content of \"%s\" is interrupted by another record", m->path);
    for (uint32_t left = next_length(); left > 0;) {
      size_t count = next_bytes(bytes, left < sizeof bytes ? left : sizeof bytes);
      sink_write(bytes, count);
      left -= (uint32_t)count;
      total += count;
    }
  }
  return total;
}

static uint64_t take_file(const struct member *m, int at, const char *name) {
  struct stat st;
  if (!sink_begin_new(at, name, m->path)) {
    if (fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode)) give_up(EISDIR, "\"%s\" is a folder", m->path);
    sink_begin(at, m->path);
  }
  uint64_t total = take_content(m);
  sink_commit(name, m->mode, &m->mtime);
  return total;
}

static void take_link(const struct member *m, int at, const char *name) {
  struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, m->mtime};
  sink_link(at, name, m->target, m->path);
  (void)utimensat(at, name, times, AT_SYMLINK_NOFOLLOW);
}

static uint64_t take_member(void) {
  static struct member m;
  next_member(&m);
  /* The empty path is the target itself. */
  bool itself = m.path[0] == 0;
  const char *name = itself ? target.name : find_parent(m.path);
  int at = itself ? target.parent : parent;
  switch (m.type) {
    case 'd':
      take_folder(&m, at, name);
      return 0;
    case 'l':
      take_link(&m, at, name);
      return 0;
    case 'f':
      return take_file(&m, at, name);
    default:
      give_up(EINVAL, "The member \"%s\" has an unknown type", m.path);
  }
}

/* The newest first, so that a folder is closed after all that is in it. */
static void finish_folders(void) {
  for (struct made *one = made; one; one = one->next) {
    struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, one->mtime};
    bool itself = one->path[0] == 0;
    const char *name = itself ? target.name : find_parent(one->path);
    int folder = open_folder(itself ? target.parent : parent, name);
    if (folder < 0 || futimens(folder, times) != 0 || fchmod(folder, one->mode) != 0) {
      give_up_on("Cannot set the mode of", one->path);
    }
    close(folder);
  }
}

uint64_t builtin_tree_in(char *const *arguments) {
  uint64_t total = 0;
  target = resolve(argument_writable_root(arguments[0]), arguments[1], RESOLVE_MAKE);
  for (;;) {
    uint8_t kind = next_kind();
    if (kind == 'E') {
      total += take_member();
    } else if (kind == '.') {
      (void)next_number();
      finish_folders();
      return total;
    } else {
      give_up(EINVAL, "The records are not those of a tree");
    }
  }
}
