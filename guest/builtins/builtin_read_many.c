/*
 * read-many: what many paths of one root hold, in one call. A host that reads each file by itself pays for a process each time, and a change of a
 * thousand small files has two thousand of them.
 *
 * One that cannot be read says so in its place, and the rest goes on: whoever owns the files must not be able to hide all of them behind one.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "builtins/builtin.h"
#include "builtins/contents.h"
#include "builtins/record_reader.h"
#include "builtins/records.h"
#include "builtins/view.h"

#define WANTED 'G'

/* The folder that was read from last: the next path is mostly of the same. */
static struct view top;
static struct view current;
static char current_path[PATH_MAX];
static bool at_top = true;

static void go_to_top(void) {
  if (!at_top) view_leave(&current);
  current = top;
  current_path[0] = 0;
  at_top = true;
}

static bool take_name(char name[NAME_MAX + 1], const char *from, size_t length) {
  if (length > NAME_MAX) {
    errno = ENAMETOOLONG;
    return false;
  }
  memcpy(name, from, length);
  name[length] = 0;
  return true;
}

/* SECURITY: names only, which are looked up one by one without following a link: nothing leads up or out (G-11) */
static bool is_plain(const char *path) {
  for (const char *at = path;; at++) {
    size_t length = strcspn(at, "/");
    if (length == 0 || (length == 1 && at[0] == '.') || (length == 2 && at[0] == '.' && at[1] == '.')) return false;
    at += length;
    if (!*at) return true;
  }
}

/* Into a folder of the current one; false with errno. */
static bool step(const char *from, size_t length) {
  char name[NAME_MAX + 1];
  struct view below = {.count = 0};
  if (!take_name(name, from, length)) return false;
  int error = view_enter(&current, name, &below) ? 0 : errno;
  if (error == 0 && below.count == 0) error = ENOENT;
  if (!at_top) view_leave(&current);
  current = below;
  at_top = false;
  errno = error;
  return error == 0;
}

/* From the top to the folder that a path is in; false with errno, and at the top. */
static bool go_to(const char *path, size_t length) {
  if (strlen(current_path) == length && memcmp(current_path, path, length) == 0) return true;
  go_to_top();
  for (const char *at = path; at < path + length;) {
    size_t part = strcspn(at, "/");
    if (!step(at, part)) {
      int error = errno;
      go_to_top();
      errno = error;
      return false;
    }
    at += part + 1;
  }
  memcpy(current_path, path, length);
  current_path[length] = 0;
  return true;
}

static bool send_link(int folder, const char *name, const struct stat *st) {
  char target[PATH_MAX];
  ssize_t length = readlinkat(folder, name, target, sizeof target - 1);
  if (length < 0) return false;
  target[length] = 0;
  record_entry(st, "", target);
  return true;
}

static bool send_file(int folder, const char *name, uint64_t limit, uint64_t *sent) {
  struct stat st;
  int file = contents_open(folder, name, &st);
  if (file < 0) return false;
  record_entry(&st, "", "");
  bool good = contents_stream(file, 0, limit, sent);
  int error = errno;
  close(file);
  errno = error;
  return good;
}

/* False with errno, maybe after a part of it was told. */
static bool send(const char *path, uint64_t limit, uint64_t *sent) {
  const char *slash = strrchr(path, '/');
  const char *last = slash ? slash + 1 : path;
  char name[NAME_MAX + 1];
  struct stat st;
  int folder = -1;
  if (!is_plain(path)) {
    errno = EINVAL;
    return false;
  }
  if (!go_to(path, slash ? (size_t)(slash - path) : 0) || !take_name(name, last, strlen(last))) return false;
  if (!view_find(&current, name, &st, &folder)) return false;
  if (S_ISREG(st.st_mode)) return send_file(folder, name, limit, sent);
  if (S_ISLNK(st.st_mode)) return send_link(folder, name, &st);
  record_entry(&st, "", "");
  return true;
}

uint64_t builtin_read_many(char *const *arguments) {
  static char path[PATH_MAX];
  uint64_t total = 0;
  argument_view(arguments[0], &top);
  current = top;
  for (uint8_t kind; (kind = next_kind()) != '.';) {
    if (kind != WANTED) give_up(EINVAL, "Not a file to read: %d", kind);
    uint64_t limit = next_number();
    /* A tree can be deeper than a path can tell. */
    if (!next_short_text(path)) record_unreadable(ENAMETOOLONG);
    else if (send(path, limit, &total)) record_file_end();
    else record_unreadable(errno);
    record_progress();
  }
  return total;
}
