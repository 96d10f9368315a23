#include "layers/room.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/statvfs.h>

#include "base/launcher.h"

#define ASK_AFTER_BYTES (1024u * 1024u)
#define KEPT_BYTES (1024ull * 1024u * 1024u)
#define KEPT_NAMES 65536u
#define KEPT_PART 20u /* of a small disk */

static uint64_t at_most(uint64_t value, uint64_t most) { return value < most ? value : most; }

/* SECURITY: a layer is as large as a sandbox says, and the disk is everybody's (G-15) */
void room_take(int fd, uint64_t bytes) {
  static uint64_t since = ASK_AFTER_BYTES;
  struct statvfs disk;
  since += bytes;
  if (since < ASK_AFTER_BYTES) return;
  since = 0;
  if (fstatvfs(fd, &disk) != 0) fail("cannot tell how much room is left");
  uint64_t block = disk.f_frsize;
  bool full = disk.f_bavail * block < bytes + at_most(disk.f_blocks * block / KEPT_PART, KEPT_BYTES);
  /* Some file systems make names as they need them, and have no number of them. */
  bool crowded = disk.f_files > 0 && disk.f_favail < at_most(disk.f_files / KEPT_PART, KEPT_NAMES);
  if (!full && !crowded) return;
  errno = ENOSPC;
  fail("too little of the disk would be left free");
}
