/* read, write and mkdir. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/bounds.h"
#include "builtins/builtin.h"
#include "builtins/contents.h"
#include "builtins/records.h"
#include "builtins/resolve.h"
#include "builtins/sink.h"

static void refuse_what_is_no_file(const struct stat *st, const char *path) {
  if (S_ISDIR(st->st_mode)) give_up(EISDIR, "\"%s\" is a folder", path);
  if (!S_ISREG(st->st_mode)) give_up(EINVAL, "\"%s\" is not a regular file", path);
}

uint64_t builtin_read(char *const *arguments) {
  const char *path = arguments[1];
  struct stat st;
  struct place place = argument_place(arguments[0], path, RESOLVE_FOLLOW);
  uint64_t offset = argument_number(arguments[2]);
  uint64_t length = strcmp(arguments[3], "-") == 0 ? UINT64_MAX : argument_number(arguments[3]);
  if (!place_stat(&place, path, &st)) give_up(ENOENT, "\"%s\" does not exist", path);
  refuse_what_is_no_file(&st, path);
  int file = contents_open(place.parent, place.name, &st);
  if (file < 0) give_up_on("Cannot read", path);
  record_entry(&st, "", "");
  return contents_send(file, offset, length, path);
}

static uint64_t copy_stdin(void) {
  static char bytes[CHUNK_BYTES];
  uint64_t total = 0;
  for (;;) {
    ssize_t count = read(STDIN_FILENO, bytes, sizeof bytes);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) give_up_on("Cannot read", "stdin");
    if (count == 0) return total;
    sink_write(bytes, (size_t)count);
    total += (uint64_t)count;
  }
}

uint64_t builtin_write(char *const *arguments) {
  const char *path = arguments[1];
  bool keep_mode = strcmp(arguments[2], "-") == 0;
  mode_t mode = keep_mode ? 0644 : argument_mode(arguments[2]);
  struct stat st;
  const struct root *root = argument_writable_root(arguments[0]);
  struct place place = resolve(root, path, RESOLVE_FOLLOW | RESOLVE_MAKE);
  if (place_stat(&place, path, &st)) {
    refuse_what_is_no_file(&st, path);
    if (keep_mode) mode = st.st_mode & 07777;
  }
  sink_begin(place.parent, path);
  uint64_t total = copy_stdin();
  sink_commit(place.name, mode, NULL);
  return total;
}

uint64_t builtin_mkdir(char *const *arguments) {
  const char *path = arguments[1];
  unsigned mode = argument_mode(arguments[2]);
  struct stat st;
  struct place place = resolve(argument_writable_root(arguments[0]), path, RESOLVE_MAKE);
  if (mkdirat(place.parent, place.name, mode) == 0) {
    /* The mode that was asked for, whatever the umask says. */
    int folder = place_open_folder(&place);
    if (folder >= 0 && fchmod(folder, mode) != 0) give_up_on("Cannot set the mode of", path);
    return 0;
  }
  if (errno != EEXIST) give_up_on("Cannot make the folder", path);
  if (!place_stat(&place, path, &st) || !S_ISDIR(st.st_mode)) give_up(EEXIST, "\"%s\" exists and is no folder", path);
  return 0;
}
