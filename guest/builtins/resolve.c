#include "builtins/resolve.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "builtins/records.h"

#define MAX_LINKS 40
#define MAX_TEXT (4 * PATH_MAX)

struct walk {
  const struct root *root;
  const char *path; /* as asked for, for messages */
  unsigned flags;
  int folder;           /* where the walk is */
  char done[MAX_TEXT];  /* the way there from the root, free of links, each part with a slash behind it */
  char rest[MAX_TEXT];  /* still to go */
  int links;
};

static int open_folder(int at, const char *name) { return openat(at, name, O_PATH | O_NOFOLLOW | O_DIRECTORY | O_CLOEXEC); }

static void go_to_root(struct walk *w) {
  if (w->folder >= 0) close(w->folder);
  w->folder = open_folder(w->root->fd, ".");
  if (w->folder < 0) give_up_on("Cannot open", w->root->name);
  w->done[0] = 0;
}

static void enter(struct walk *w, const char *name, int fd) {
  size_t used = strlen(w->done);
  if (used + strlen(name) + 2 > sizeof w->done) give_up(ENAMETOOLONG, "\"%s\" is too long", w->path);
  snprintf(w->done + used, sizeof w->done - used, "%s/", name);
  close(w->folder);
  w->folder = fd;
}

/* SECURITY: ".." is answered from the way we came, never by the file system, and ends at the root (G-11) */
static void go_up(struct walk *w) {
  static char way[MAX_TEXT];
  size_t used = strlen(w->done);
  if (used == 0) give_up(EXDEV, "\"%s\" leaves the %s", w->path, w->root->name);
  used--;
  while (used > 0 && w->done[used - 1] != '/') used--;
  memcpy(way, w->done, used);
  way[used] = 0;
  go_to_root(w);
  for (char *at = way; *at;) {
    char *slash = strchr(at, '/');
    *slash = 0;
    int fd = open_folder(w->folder, at);
    if (fd < 0) give_up_on("Cannot enter", w->path);
    enter(w, at, fd);
    at = slash + 1;
  }
}

/* SECURITY: links are text to us: read, checked against the root and walked like a path (G-11) */
static void expand_link(struct walk *w, const char *name) {
  char target[PATH_MAX];
  const char *text = target;
  if (++w->links > MAX_LINKS) give_up(ELOOP, "\"%s\" passes too many links", w->path);
  place_link(w->folder, name, target);
  if (target[0] == '/') {
    size_t prefix = strlen(w->root->path);
    bool inside = strncmp(target, w->root->path, prefix) == 0 && (target[prefix] == '/' || target[prefix] == 0);
    if (!inside) give_up(EXDEV, "\"%s\" leaves the %s by a link", w->path, w->root->name);
    text = target + prefix;
    go_to_root(w);
  }
  size_t length = strlen(text);
  size_t left = strlen(w->rest);
  if (length + left + 2 > sizeof w->rest) give_up(ENAMETOOLONG, "\"%s\" is too long", w->path);
  memmove(w->rest + length + 1, w->rest, left + 1);
  memcpy(w->rest, text, length);
  w->rest[length] = '/';
}

/* Takes the first part off what is left to go; false at the end. */
static bool next_part(struct walk *w, char name[NAME_MAX + 1]) {
  const char *at = w->rest + strspn(w->rest, "/");
  size_t length = strcspn(at, "/");
  if (length > NAME_MAX) give_up(ENAMETOOLONG, "\"%s\" is too long", w->path);
  memcpy(name, at, length);
  name[length] = 0;
  at += length;
  at += strspn(at, "/");
  memmove(w->rest, at, strlen(at) + 1);
  return length > 0;
}

/* Looks at one part; true when it is the place that was asked for. */
static bool step(struct walk *w, const char *name) {
  bool last = w->rest[0] == 0;
  struct stat st;
  if (strcmp(name, ".") == 0) return false;
  if (strcmp(name, "..") == 0) {
    go_up(w);
    return false;
  }
  int fd = openat(w->folder, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0 && errno == ENOENT && (last || w->flags & RESOLVE_AS_FAR)) return true;
  if (fd < 0 && errno == ENOENT && w->flags & RESOLVE_MAKE) {
    if (mkdirat(w->folder, name, 0755) != 0 && errno != EEXIST) give_up_on("Cannot make the folders of", w->path);
    fd = openat(w->folder, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
  }
  if (fd < 0 || fstat(fd, &st) != 0) give_up_on("Cannot open", w->path);
  if (S_ISLNK(st.st_mode) && (!last || w->flags & RESOLVE_FOLLOW)) {
    close(fd);
    expand_link(w, name);
    return false;
  }
  if (last) {
    close(fd);
    return true;
  }
  if (!S_ISDIR(st.st_mode)) give_up(ENOTDIR, "A part of \"%s\" is not a folder", w->path);
  enter(w, name, fd);
  return false;
}

static struct walk walk;

const char *resolve_rest(void) { return walk.rest; }

struct place resolve(const struct root *root, const char *path, unsigned flags) {
  struct place place;
  walk = (struct walk){.root = root, .path = path, .flags = flags, .folder = -1};
  if (strlen(path) >= PATH_MAX) give_up(ENAMETOOLONG, "The path is too long");
  memcpy(walk.rest, path, strlen(path) + 1);
  go_to_root(&walk);
  while (next_part(&walk, place.name)) {
    if (step(&walk, place.name)) {
      place.parent = walk.folder;
      return place;
    }
  }
  place.parent = walk.folder;
  memcpy(place.name, ".", 2);
  return place;
}

bool place_stat(const struct place *place, const char *path, struct stat *st) {
  if (fstatat(place->parent, place->name, st, AT_SYMLINK_NOFOLLOW) == 0) return true;
  if (errno != ENOENT) give_up_on("Cannot look at", path);
  return false;
}

int place_open_folder(const struct place *place) {
  return openat(place->parent, place->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

void place_link(int parent, const char *name, char target[PATH_MAX]) {
  ssize_t length = readlinkat(parent, name, target, PATH_MAX - 1);
  if (length < 0) give_up_on("Cannot read the link", name);
  target[length] = 0;
}
