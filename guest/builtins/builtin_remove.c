#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "builtins/builtin.h"
#include "builtins/folder.h"
#include "builtins/records.h"
#include "builtins/resolve.h"

static void remove_one(struct trail *trail, int parent, const char *name, bool recursive, dev_t device) {
  struct stat st;
  struct names names;
  if (unlinkat(parent, name, 0) == 0 || errno == ENOENT) return;
  int error = errno;
  /* A folder answers EISDIR, on some file systems EPERM; everything else really failed. */
  if (fstatat(parent, name, &st, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISDIR(st.st_mode)) {
    errno = error;
    give_up_on("Cannot remove", trail->path);
  }
  if (recursive) {
    /* SECURITY: a mounted folder is somebody else's tree (G-16) */
    if (st.st_dev != device) give_up(EBUSY, "Cannot remove \"%s\": something is mounted there", trail->path);
    int folder = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder < 0 || !names_read(folder, &names)) give_up_on("Cannot remove", trail->path);
    for (size_t i = 0; i < names.count; i++) {
      size_t back = trail_enter(trail, names.list[i]);
      remove_one(trail, folder, names.list[i], true, device);
      trail_leave(trail, back);
    }
    names_free(&names);
    close(folder);
  }
  if (unlinkat(parent, name, AT_REMOVEDIR) != 0 && errno != ENOENT) give_up_on("Cannot remove", trail->path);
}

uint64_t builtin_remove(char *const *arguments) {
  static struct trail trail;
  const char *path = arguments[1];
  struct stat st;
  struct stat above;
  struct place place = resolve(argument_writable_root(arguments[0]), path, 0);
  bool recursive = argument_number(arguments[2]) != 0;
  if (strcmp(place.name, ".") == 0) give_up(EBUSY, "Cannot remove the %s itself", arguments[0]);
  if (!place_stat(&place, path, &st)) give_up(ENOENT, "\"%s\" does not exist", path);
  if (fstat(place.parent, &above) != 0) give_up_on("Cannot remove", path);
  (void)trail_enter(&trail, path);
  remove_one(&trail, place.parent, place.name, recursive, above.st_dev);
  return 0;
}
