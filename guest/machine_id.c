#include "machine_id.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define MACHINE_ID "/etc/machine-id"

bool machine_id_renew(void) {
  uint8_t bytes[16];
  char text[2 * sizeof bytes + 2];
  if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes) return false;
  for (size_t i = 0; i < sizeof bytes; i++) snprintf(text + 2 * i, 3, "%02x", bytes[i]);
  text[sizeof text - 2] = '\n';
  /* Whatever the environment has under that name is replaced, never written through. */
  if (unlink(MACHINE_ID) != 0 && errno != ENOENT) return false;
  int file = open(MACHINE_ID, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0444);
  if (file < 0) return errno == ENOENT;
  bool written = write(file, text, sizeof text - 1) == (ssize_t)(sizeof text - 1) && fchmod(file, 0444) == 0;
  return close(file) == 0 && written;
}
