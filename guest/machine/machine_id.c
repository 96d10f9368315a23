#include "machine/machine_id.h"

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

/* Only an id that this program has written before. An emulated kernel has a good deal less to do for that than for a new file. */
static bool write_over(int folder, const char *text, size_t length) {
  struct stat st;
  int file = openat(folder, NAME, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) return write_id(folder, text, length);
  bool own = fstat(file, &st) == 0 && st.st_mode == (S_IFREG | 0444) && st.st_uid == 0 && st.st_nlink == 1 && st.st_size == (off_t)length;
  bool written = own && pwrite(file, text, length, 0) == (ssize_t)length;
  return close(file) == 0 && (own ? written : write_id(folder, text, length));
}

static bool renew(const char *root, bool (*put)(int folder, const char *text, size_t length)) {
  uint8_t bytes[16];
  char text[2 * sizeof bytes + 2];
  char path[64];
  if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes) return false;
  for (size_t i = 0; i < sizeof bytes; i++) snprintf(text + 2 * i, 3, "%02x", bytes[i]);
  text[sizeof text - 2] = '\n';
  snprintf(path, sizeof path, "%s/etc", root);
  int folder = open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (folder < 0) return errno == ENOENT;
  bool written = put(folder, text, sizeof text - 1);
  int error = errno;
  close(folder);
  errno = error;
  /* An /etc that is not ours, as an engine makes it in an empty image, has no id of ours either. */
  return written || error == EACCES;
}

bool machine_id_renew(const char *root) { return renew(root, write_id); }

bool machine_id_renew_in_place(const char *root) { return renew(root, write_over); }
