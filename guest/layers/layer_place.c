#include "layers/layer_place.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/launcher.h"

/* SECURITY: opened by name in a folder that is open, never through a link, so that no swap leads out of the layer (G-01, G-11) */
int place_open(int folder, const char *name, int flags) {
  return openat(folder, name, flags | O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

bool place_was_swapped(void) { return errno == ENOENT || errno == ENOTDIR || errno == ELOOP || errno == ENXIO; }

int place_reopen(int fd, const char *path) {
  int folder = place_open(fd, ".", O_DIRECTORY);
  if (folder < 0) fail("cannot open %s", path);
  close(fd);
  return folder;
}

void place_raise_descriptors(void) {
  struct rlimit descriptors;
  if (getrlimit(RLIMIT_NOFILE, &descriptors) != 0) return;
  descriptors.rlim_cur = descriptors.rlim_max;
  (void)setrlimit(RLIMIT_NOFILE, &descriptors);
}

struct named_folder {
  const char *path;
  int fd;
};

/* By the user, who alone may pass the folders above. */
static void open_named(void *argument) {
  struct named_folder *folder = argument;
  folder->fd = open_path(folder->path);
}

int place_enter(char **argv, const char *option, struct id_map *map) {
  struct named_folder folder = {.fd = -1};
  for (char **at = argv + 1; *at;) {
    int taken = id_map_option(map, at);
    if (taken == 0 && at[1] && strcmp(*at, option) == 0) {
      folder.path = at[1];
      taken = 2;
    }
    if (taken == 0) fail_usage("unknown option");
    at += taken;
  }
  if (!folder.path) fail_usage("missing option");
  place_raise_descriptors();
  /* SECURITY: as the sandbox's root, who owns nothing else on the host, so that even a trick could reach no file of the user (G-01) */
  id_map_enter(map, 0, open_named, &folder);
  return place_reopen(folder.fd, folder.path);
}
