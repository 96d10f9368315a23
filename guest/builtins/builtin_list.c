/* stat and list. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

#include "builtins/builtin.h"
#include "builtins/folder.h"
#include "builtins/records.h"
#include "builtins/resolve.h"

static void show(int parent, const char *name, const struct stat *st, const char *path) {
  static char target[PATH_MAX]; /* not on the stack, which a deep tree needs */
  target[0] = 0;
  if (S_ISLNK(st->st_mode)) place_link(parent, name, target);
  record_entry(st, path, target);
}

uint64_t builtin_stat(char *const *arguments) {
  struct stat st;
  struct place place = argument_place(arguments[0], arguments[1], 0);
  if (!place_stat(&place, arguments[1], &st)) give_up(ENOENT, "\"%s\" does not exist", arguments[1]);
  show(place.parent, place.name, &st, "");
  return 0;
}

struct listing {
  struct trail trail;
  bool recursive;
  uint64_t left;
};

static void list_folder(struct listing *l, int folder) {
  struct names names;
  /* A folder that the user cannot read is listed itself; what is in it stays unknown. */
  if (!names_read(folder, &names)) return;
  for (size_t i = 0; i < names.count && l->left > 0; i++) {
    struct stat st;
    /* It may be gone since its name was read. */
    if (fstatat(folder, names.list[i], &st, AT_SYMLINK_NOFOLLOW) != 0) continue;
    /* SECURITY: what is too deep to be told hides nothing else (G-10) */
    if (!trail_fits(&l->trail, names.list[i])) continue;
    size_t back = trail_enter(&l->trail, names.list[i]);
    show(folder, names.list[i], &st, l->trail.path);
    l->left--;
    if (l->recursive && S_ISDIR(st.st_mode)) {
      int below = openat(folder, names.list[i], O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
      if (below >= 0) {
        list_folder(l, below);
        close(below);
      }
    }
    trail_leave(&l->trail, back);
  }
  names_free(&names);
}

uint64_t builtin_list(char *const *arguments) {
  static struct listing l;
  struct names probe;
  struct place place = resolve(argument_root(arguments[0]), arguments[1], 0);
  uint64_t limit = argument_number(arguments[3]);
  l.recursive = argument_number(arguments[2]) != 0;
  l.left = limit ? limit : UINT64_MAX;
  int folder = place_open_folder(&place);
  if (folder < 0 || !names_read(folder, &probe)) give_up_on("Cannot list", arguments[1]);
  names_free(&probe);
  list_folder(&l, folder);
  return 0;
}
