/*
 * A read-only bind keeps a sandbox from writing, not from the rest that an inode is good for: a socket still answers, a pipe still carries data, a
 * lock still blocks the host, a watch still tells what the host does. An overlay has inodes of its own, and file systems that are mounted below
 * the folder do not show through it.
 */
#include "walls/host_folders.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/launcher.h"
#include "walls/cover.h"

static void add(const char **list, size_t *count, size_t limit, const char *value) {
  /* SECURITY: what cannot be hidden must not be shown (G-01) */
  if (*count == limit) {
    errno = E2BIG;
    fail("cannot cover more than %zu places of the host", limit);
  }
  list[(*count)++] = value;
}

bool host_folders_option(struct host_folders *f, const char *name, const char *value) {
  if (strcmp(name, "--host-folder") == 0) add(f->paths, &f->count, MAX_HOST_FOLDERS, value);
  else if (strcmp(name, "--cover") == 0) add(f->covered, &f->covered_count, MAX_COVERED, value);
  else return false;
  return true;
}

void host_folders_open(struct host_folders *f) {
  for (size_t i = 0; !f->opened && i < f->count; i++) f->fds[i] = open_path(f->paths[i]);
}

/* The rest of `path` below `folder`, or NULL when it is elsewhere. */
static const char *below(const char *path, const char *folder) {
  size_t length = strlen(folder);
  return strncmp(path, folder, length) == 0 && path[length] == '/' && path[length + 1] ? path + length + 1 : NULL;
}

static int make_cover(const struct host_folders *f, size_t index, const char *stage) {
  char path[64];
  snprintf(path, sizeof path, "%s/cover/%zu", stage, index);
  if (mkdir(path, 0700) < 0) fail("cannot make %s", path);
  int cover = open_path(path);
  cover_start(cover, f->fds[index]);
  for (size_t i = 0; i < f->covered_count; i++) {
    const char *place = below(f->covered[i], f->paths[index]);
    if (place) cover_place(cover, f->fds[index], place);
  }
  return cover;
}

static void mount_behind(int cover, int folder, const char *target, const char *shown) {
  char options[128];
  if (mkdir(target, 0755) < 0) fail("cannot make %s", target);
  /* By descriptor, so that the mount table in the sandbox names no place of the host. */
  snprintf(options, sizeof options, "lowerdir=/proc/self/fd/%d:/proc/self/fd/%d,userxattr", cover, folder);
  if (mount("overlay", target, "overlay", MS_RDONLY | MS_NOSUID | MS_NODEV, options) < 0) fail("cannot show the folder %s", shown);
}

/* SECURITY: nothing of the host answers, is heard or is held through its folders, and what is covered does not show (G-01, G-02) */
void host_folders_mount(const struct host_folders *f, const char *stage) {
  char path[64];
  for (int i = 0; i < 2; i++) {
    snprintf(path, sizeof path, "%s/%s", stage, i ? "cover" : "host");
    if (f->count > 0 && mkdir(path, 0755) < 0) fail("cannot make %s", path);
  }
  for (size_t i = 0; i < f->count; i++) {
    int cover = make_cover(f, i, stage);
    snprintf(path, sizeof path, "%s/host/%zu", stage, i);
    mount_behind(cover, f->fds[i], path, f->paths[i]);
    close(cover);
  }
}
