#include "builtins/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bounds.h"
#include "builtins/records.h"

static int by_bytes(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

bool names_read(int folder, struct names *names) {
  size_t capacity = 0;
  *names = (struct names){0};
  int own = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *entries = own < 0 ? NULL : fdopendir(own);
  if (!entries) {
    if (own >= 0) close(own);
    return false;
  }
  errno = 0;
  for (struct dirent *d; (d = readdir(entries));) {
    if (strcmp(d->d_name, ".") == 0 || strcmp(d->d_name, "..") == 0) continue;
    if (names->count == capacity) {
      capacity = capacity ? capacity * 2 : 64;
      names->list = need(realloc(names->list, capacity * sizeof *names->list));
    }
    names->list[names->count++] = need(strdup(d->d_name));
    errno = 0;
  }
  int error = errno;
  closedir(entries);
  if (error) {
    names_free(names);
    errno = error;
    return false;
  }
  if (names->count) qsort(names->list, names->count, sizeof *names->list, by_bytes);
  return true;
}

void names_add(struct names *names, struct names more) {
  if (more.count) {
    names->list = need(realloc(names->list, (names->count + more.count) * sizeof *names->list));
    memcpy(names->list + names->count, more.list, more.count * sizeof *more.list);
    names->count += more.count;
  }
  free(more.list);
}

void names_unite(struct names *names) {
  size_t kept = 0;
  if (names->count) qsort(names->list, names->count, sizeof *names->list, by_bytes);
  for (size_t i = 0; i < names->count; i++) {
    if (kept > 0 && strcmp(names->list[kept - 1], names->list[i]) == 0) free(names->list[i]);
    else names->list[kept++] = names->list[i];
  }
  names->count = kept;
}

void names_free(struct names *names) {
  for (size_t i = 0; i < names->count; i++) free(names->list[i]);
  free(names->list);
  *names = (struct names){0};
}

bool trail_fits(const struct trail *trail, const char *name) {
  return trail->length + strlen(name) + 1 <= MAX_PATH_BYTES && trail->depth < TRAIL_DEPTH;
}

size_t trail_enter(struct trail *trail, const char *name) {
  record_progress();
  size_t before = trail->length;
  size_t length = strlen(name);
  if (before + length + 2 > sizeof trail->path || trail->depth >= TRAIL_DEPTH) {
    give_up(ENAMETOOLONG, "The folders below \"%.100s\" are nested too deeply", trail->path);
  }
  if (before > 0) trail->path[trail->length++] = '/';
  memcpy(trail->path + trail->length, name, length + 1);
  trail->length += length;
  trail->depth++;
  return before;
}

void trail_leave(struct trail *trail, size_t length) {
  trail->length = length;
  trail->path[length] = 0;
  trail->depth--;
}
