#include "walls/devices.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/launcher.h"
#include "walls/restrict_mount.h"
#include "walls/terminals.h"

#define PLACE "/run/dev" /* on the stage */

/* SECURITY: of the host's devices these and no others: none of them keeps anything or leads to hardware (G-02) */
static const char *const bound[] = {"null", "zero", "full", "random", "urandom", "tty"};

static const struct {
  const char *name;
  const char *target;
} links[] = {
    {"fd", "/proc/self/fd"},
    {"stdin", "/proc/self/fd/0"},
    {"stdout", "/proc/self/fd/1"},
    {"stderr", "/proc/self/fd/2"},
    {"core", "/proc/kcore"},
    {"ptmx", "pts/ptmx"},
};

static void bind_device(const char *name) {
  char from[64], to[64];
  snprintf(from, sizeof from, "/dev/%s", name);
  snprintf(to, sizeof to, PLACE "/%s", name);
  int file = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0444);
  if (file < 0 || close(file) < 0 || mount(from, to, NULL, MS_BIND, NULL) < 0) fail("cannot bind %s", from);
  restrict_mount(to, MS_NOSUID | MS_NOEXEC);
}

void devices_mount(void) {
  if (mkdir(PLACE, 0755) < 0 || mount("tmpfs", PLACE, "tmpfs", MS_NOSUID | MS_NODEV, "mode=755") < 0) fail("cannot mount devices");
  for (size_t i = 0; i < sizeof bound / sizeof *bound; i++) bind_device(bound[i]);
  for (size_t i = 0; i < sizeof links / sizeof *links; i++) {
    char path[64];
    snprintf(path, sizeof path, PLACE "/%s", links[i].name);
    if (symlink(links[i].target, path) < 0) fail("cannot make %s", path);
  }
  if (mkdir(PLACE "/shm", 0755) < 0) fail("cannot make %s", PLACE "/shm");
  terminals_mount(PLACE "/pts");
}
