#include "builtins/tree_send.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

#include "builtins/contents.h"
#include "builtins/records.h"
#include "builtins/resolve.h"

static void send_folder(struct tree_sent *sent, struct trail *trail, int parent, const char *name) {
  struct names names;
  int folder = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (folder < 0 || !names_read(folder, &names)) give_up_on("Cannot read the folder", trail->path);
  for (size_t i = 0; i < names.count; i++) {
    size_t back = trail_enter(trail, names.list[i]);
    tree_send(sent, trail, folder, names.list[i]);
    trail_leave(trail, back);
  }
  names_free(&names);
  close(folder);
}

static void send_file(struct tree_sent *sent, const struct trail *trail, int parent, const char *name) {
  struct stat st;
  int file = contents_open(parent, name, &st);
  if (file < 0 && errno == ENOENT) return;
  if (file < 0) give_up_on("Cannot read", trail->path);
  if (sent->room > 0 && (size_of(&st) > sent->room || sent->bytes > sent->room - size_of(&st))) sent->no_room();
  record_entry(&st, trail->path, "");
  /* No more than was announced: what is written meanwhile is not there yet. */
  sent->bytes += contents_send(file, 0, size_of(&st), trail->path);
  sent->members++;
  record_file_end();
  close(file);
}

void tree_send(struct tree_sent *sent, struct trail *trail, int parent, const char *name) {
  struct stat st;
  static char target[PATH_MAX]; /* not on the stack, which a deep tree needs */
  if (fstatat(parent, name, &st, AT_SYMLINK_NOFOLLOW) != 0) {
    /* What disappears while we walk was not there; the start has to be. */
    if (errno == ENOENT && trail->length > 0) return;
    give_up_on("Cannot look at", trail->path);
  }
  if (S_ISREG(st.st_mode)) {
    send_file(sent, trail, parent, name);
  } else if (S_ISLNK(st.st_mode)) {
    place_link(parent, name, target);
    record_entry(&st, trail->path, target);
    sent->members++;
  } else if (S_ISDIR(st.st_mode)) {
    record_entry(&st, trail->path, "");
    send_folder(sent, trail, parent, name);
  }
}
