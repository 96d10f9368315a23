/*
 * A tree from the host. All of it is received into a staging folder first; only when its end has come is it put in place, and when
 * that fails half-way everything goes back.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bounds.h"
#include "builtins/builtin.h"
#include "builtins/record_reader.h"
#include "builtins/records.h"
#include "builtins/resolve.h"
#include "builtins/sink.h"
#include "builtins/staging.h"
#include "builtins/tree_commit.h"

static char prefix[2 * PATH_MAX]; /* of the target, from the folder that is there already */
static struct tree_step *first;
static struct tree_step **last = &first;

static void check_parts(const char *path) {
  for (const char *part = path;; part++) {
    size_t length = strcspn(part, "/");
    bool dots = (length == 1 && part[0] == '.') || (length == 2 && part[0] == '.' && part[1] == '.');
    if (length == 0 || length > NAME_MAX || dots) give_up(EINVAL, "The member \"%s\" has a path that is not allowed", path);
    part += length;
    if (*part == 0) return;
  }
}

static struct tree_step *add_step(uint8_t type, const char *path) {
  size_t before = strlen(prefix);
  size_t length = strlen(path);
  /* The empty path is the target itself. */
  if (length > 0) check_parts(path);
  struct tree_step *s = need(calloc(1, sizeof *s + before + length + 2));
  s->type = type;
  memcpy(s->path, prefix, before);
  if (before > 0 && length > 0) s->path[before++] = '/';
  memcpy(s->path + before, path, length + 1);
  s->shown = length > 0 ? s->path + before : s->path;
  *last = s;
  last = &s->next;
  return s;
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

static uint64_t take_file(const struct member *m, const char *staged) {
  if (!sink_begin_new(staging_folder(), staged, m->path)) give_up(EEXIST, "Cannot write \"%s\"", m->path);
  uint64_t total = take_content(m);
  sink_commit(staged, m->mode & 0777, &m->mtime);
  return total;
}

static void take_link(const struct member *m, const char *staged) {
  struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, m->mtime};
  sink_link(staging_folder(), staged, m->target, m->path);
  (void)utimensat(staging_folder(), staged, times, AT_SYMLINK_NOFOLLOW);
}

static uint64_t take_member(void) {
  static struct member m;
  char staged[STAGED_NAME];
  next_member(&m);
  if (m.type != 'd' && m.type != 'l' && m.type != 'f') give_up(EINVAL, "The member \"%s\" has an unknown type", m.path);
  struct tree_step *s = add_step(m.type, m.path);
  s->mode = m.mode & 0777;
  s->mtime = m.mtime;
  if (m.type == 'd') return 0;
  s->number = staging_next();
  staging_name(s->number, staged);
  if (m.type == 'f') return take_file(&m, staged);
  take_link(&m, staged);
  return 0;
}

static void take_removal(void) {
  static char path[PATH_MAX];
  next_text(path);
  if (path[0] == 0) give_up(EINVAL, "The target itself cannot be removed");
  (void)add_step('R', path);
}

/* Where the staging folder is: at the top of the workspace; elsewhere beside the target, which may be another file system. */
static int staging_place(const struct root *root, const struct place *place) {
  return strcmp(root->name, "workspace") == 0 ? root->fd : place->parent;
}

uint64_t builtin_tree_in(char *const *arguments) {
  uint64_t total = 0;
  const struct root *root = argument_writable_root(arguments[0]);
  struct place place = resolve(root, arguments[1], RESOLVE_AS_FAR);
  if (strcmp(place.name, ".") != 0) {
    const char *rest = resolve_rest();
    size_t length = strlen(place.name);
    memcpy(prefix, place.name, length + 1);
    if (*rest) {
      prefix[length++] = '/';
      memcpy(prefix + length, rest, strlen(rest) + 1);
      length = strlen(prefix);
      while (length > 0 && prefix[length - 1] == '/') prefix[--length] = 0;
    }
    check_parts(prefix);
  }
  reader_heed_signals();
  staging_open(staging_place(root, &place));
  before_giving_up(staging_discard);
  for (;;) {
    uint8_t kind = next_kind();
    if (kind == 'E') {
      total += take_member();
    } else if (kind == 'R') {
      take_removal();
    } else if (kind == '.') {
      /* The sums differ when a piece was lost on the way. */
      if (next_number() != total) give_up(EBADMSG, "The records are not complete");
      break;
    } else {
      give_up(EINVAL, "The records are not those of a tree");
    }
  }
  /* The target is made also when nothing goes into it. */
  if (!first) add_step('d', "")->mode = 0755;
  tree_commit(place.parent, first);
  return total;
}
