/* Folders of the host that show in a sandbox, each behind an overlay of its own. */
#ifndef CLOCHE_HOST_FOLDERS_H
#define CLOCHE_HOST_FOLDERS_H

#include <stdbool.h>
#include <stddef.h>

#define MAX_HOST_FOLDERS 32u
#define MAX_COVERED 4096u

struct host_folders {
  const char *paths[MAX_HOST_FOLDERS];
  size_t count;
  const char *covered[MAX_COVERED]; /* places below them that must not show */
  size_t covered_count;
  bool opened; /* already, by root */
  int fds[MAX_HOST_FOLDERS];
};

/* Takes `--host-folder PATH` and `--cover PATH`; false when it is another option. */
bool host_folders_option(struct host_folders *folders, const char *name, const char *value);
void host_folders_open(struct host_folders *folders);
/* Mounts each at `stage`/host/N, with what covers it beside. */
void host_folders_mount(const struct host_folders *folders, const char *stage);

#endif
