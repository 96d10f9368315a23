#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

#include "builtins/builtin.h"
#include "builtins/contents.h"
#include "builtins/folder.h"
#include "builtins/records.h"
#include "builtins/resolve.h"

static uint64_t send_one(struct trail *trail, int parent, const char *name);

static uint64_t send_folder(struct trail *trail, int parent, const char *name) {
  struct names names;
  uint64_t total = 0;
  int folder = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (folder < 0 || !names_read(folder, &names)) give_up_on("Cannot read the folder", trail->path);
  for (size_t i = 0; i < names.count; i++) {
    size_t back = trail_enter(trail, names.list[i]);
    total += send_one(trail, folder, names.list[i]);
    trail_leave(trail, back);
  }
  names_free(&names);
  close(folder);
  return total;
}

static uint64_t send_one(struct trail *trail, int parent, const char *name) {
  struct stat st;
  static char target[PATH_MAX]; /* not on the stack, which a deep tree needs */
  if (fstatat(parent, name, &st, AT_SYMLINK_NOFOLLOW) != 0) {
    /* What disappears while we walk was not there; the start has to be. */
    if (errno == ENOENT && trail->length > 0) return 0;
    give_up_on("Cannot look at", trail->path);
  }
  if (S_ISREG(st.st_mode)) {
    int file = contents_open(parent, name, &st);
    if (file < 0 && errno == ENOENT) return 0;
    if (file < 0) give_up_on("Cannot read", trail->path);
    record_entry(&st, trail->path, "");
    /* No more than was announced: what is written meanwhile is not there yet. */
    uint64_t sent = contents_send(file, 0, size_of(&st), trail->path);
    record_file_end();
    close(file);
    return sent;
  }
  target[0] = 0;
  if (S_ISLNK(st.st_mode)) place_link(parent, name, target);
  if (!S_ISLNK(st.st_mode) && !S_ISDIR(st.st_mode)) return 0;
  record_entry(&st, trail->path, target);
  return S_ISDIR(st.st_mode) ? send_folder(trail, parent, name) : 0;
}

uint64_t builtin_tree_out(char *const *arguments) {
  static struct trail trail;
  struct place place = resolve(argument_root(arguments[0]), arguments[1], 0);
  return send_one(&trail, place.parent, place.name);
}
