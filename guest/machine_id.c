#include "machine_id.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME "machine-id"

static bool write_id(int folder, const char *text, size_t length) {
  /* Whatever the environment has under that name is replaced, never written through. */
  if (unlinkat(folder, NAME, 0) != 0 && errno != ENOENT) return false;
  int file = openat(folder, NAME, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0444);
  if (file < 0) return false;
  bool written = write(file, text, length) == (ssize_t)length && fchmod(file, 0444) == 0;
  return close(file) == 0 && written;
}

bool machine_id_renew(const char *root) {
  uint8_t bytes[16];
  char text[2 * sizeof bytes + 2];
  char path[64];
  if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes) return false;
  for (size_t i = 0; i < sizeof bytes; i++) snprintf(text + 2 * i, 3, "%02x", bytes[i]);
  text[sizeof text - 2] = '\n';
  snprintf(path, sizeof path, "%s/etc", root);
  int folder = open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (folder < 0) return errno == ENOENT;
  bool written = write_id(folder, text, sizeof text - 1);
  int error = errno;
  close(folder);
  errno = error;
  /* An /etc that is not ours, as an engine makes it in an empty image, has no id of ours either. */
  return written || error == EACCES;
}
