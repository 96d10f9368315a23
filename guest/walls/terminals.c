/*
 * The kernel has a few thousand terminals for all who share it. Those of a sandbox are a file system of its own, which the launcher mounts: the
 * programs that build walls mount one too, and none of them limits it.
 */
#include "walls/terminals.h"

#include <sys/mount.h>
#include <sys/stat.h>

#include "base/launcher.h"

/* SECURITY: one sandbox takes this many terminals and no more, so that others and the host have some left (G-26) */
#define OPTIONS "newinstance,ptmxmode=0666,mode=0620,max=128"

void terminals_mount(const char *place) {
  if (mkdir(place, 0755) != 0 || mount("devpts", place, "devpts", MS_NOSUID | MS_NOEXEC, OPTIONS) != 0) fail("cannot mount terminals");
}
