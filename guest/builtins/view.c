#include "builtins/view.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "builtins/builtin.h"
#include "builtins/records.h"

static bool has_mark(int folder, const char *name) {
  char value = 0;
  return fgetxattr(folder, name, &value, 1) == 1 && value == 'y';
}

bool is_opaque(int folder) {
  return has_mark(folder, "user.overlay.opaque") || has_mark(folder, "trusted.overlay.opaque");
}

/* What a layer has in the place of something that was removed. */
static bool is_whiteout(const struct stat *st) { return S_ISCHR(st->st_mode) && st->st_rdev == makedev(0, 0); }

void view_open(struct view *view, size_t layers) {
  if (layers > layer_count) give_up(EINVAL, "There are no %zu layers in this sandbox", layers);
  view->count = 0;
  for (size_t i = layers; i > 0; i--) view->folders[view->count++] = layer_fds[i - 1];
  view->folders[view->count++] = argument_root("baseline")->fd;
}

bool view_find(const struct view *view, const char *name, struct stat *st, int *folder) {
  for (size_t i = 0; i < view->count; i++) {
    if (fstatat(view->folders[i], name, st, AT_SYMLINK_NOFOLLOW) == 0) {
      *folder = view->folders[i];
      errno = ENOENT;
      return !is_whiteout(st);
    }
    if (errno != ENOENT && errno != ENOTDIR) return false;
  }
  errno = ENOENT;
  return false;
}

bool view_look(const struct view *view, const char *name, struct stat *st, int *folder) {
  if (view_find(view, name, st, folder)) return true;
  if (errno != ENOENT) give_up_on("Cannot look at", name);
  return false;
}

bool view_enter(const struct view *view, const char *name, struct view *below) {
  below->count = 0;
  for (size_t i = 0; i < view->count; i++) {
    struct stat st;
    if (fstatat(view->folders[i], name, &st, AT_SYMLINK_NOFOLLOW) != 0) continue;
    if (!S_ISDIR(st.st_mode)) return true;
    int folder = openat(view->folders[i], name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder < 0) return false;
    below->folders[below->count++] = folder;
    if (is_opaque(folder)) return true;
  }
  return true;
}

void view_leave(const struct view *view) {
  for (size_t i = 0; i < view->count; i++) close(view->folders[i]);
}

bool view_names(const struct view *view, struct names *names) {
  *names = (struct names){0};
  for (size_t i = 0; i < view->count; i++) {
    struct names more;
    if (!names_read(view->folders[i], &more)) return false;
    names_add(names, more);
  }
  names_unite(names);
  return true;
}

static void refuse(const char *path) __attribute__((noreturn));
static void refuse(const char *path) { give_up(ENOENT, "\"%s\" does not exist", path); }

struct place view_place(size_t layers, const char *path) {
  struct place place;
  struct view at;
  struct stat st;
  view_open(&at, layers);
  for (bool is_top = true;; is_top = false) {
    size_t length = strcspn(path, "/");
    if (length == 0 || length > NAME_MAX) refuse(path);
    memcpy(place.name, path, length);
    place.name[length] = 0;
    if (!path[length]) break;
    struct view below;
    if (!view_enter(&at, place.name, &below)) give_up_on("Cannot read a folder of", path);
    if (!is_top) view_leave(&at);
    at = below;
    path += length + 1;
  }
  if (!view_look(&at, place.name, &st, &place.parent)) refuse(path);
  return place;
}
