#include "builtins/contents.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/bounds.h"
#include "builtins/records.h"

int contents_open(int parent, const char *name, struct stat *st) {
  int file = -1;
  if (fstatat(parent, name, st, AT_SYMLINK_NOFOLLOW) != 0) return -1;
  if (S_ISREG(st->st_mode)) {
    file = openat(parent, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (file < 0) return -1;
    if (fstat(file, st) != 0) {
      int error = errno;
      close(file);
      errno = error;
      return -1;
    }
  }
  /* It may have been swapped since the first look. */
  if (S_ISREG(st->st_mode)) return file;
  if (file >= 0) close(file);
  errno = EINVAL;
  return -1;
}

/* Less than asked for only at the end of the file; -1 with errno. */
static ssize_t read_chunk(int file, uint8_t *bytes, size_t count, uint64_t offset) {
  size_t have = 0;
  while (have < count) {
    ssize_t got = pread(file, bytes + have, count - have, (off_t)(offset + have));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return -1;
    if (got == 0) break;
    have += (size_t)got;
  }
  return (ssize_t)have;
}

bool contents_stream(int file, uint64_t offset, uint64_t length, uint64_t *sent) {
  static uint8_t bytes[CHUNK_BYTES];
  if (offset > INT64_MAX) return true;
  for (uint64_t done = 0; done < length;) {
    size_t wanted = length - done < sizeof bytes ? (size_t)(length - done) : sizeof bytes;
    ssize_t count = read_chunk(file, bytes, wanted, offset + done);
    if (count < 0) return false;
    if (count > 0) record_bytes(bytes, (size_t)count);
    done += (uint64_t)count;
    *sent += (uint64_t)count;
    if ((size_t)count < wanted) break;
  }
  return true;
}

uint64_t contents_send(int file, uint64_t offset, uint64_t length, const char *path) {
  uint64_t sent = 0;
  if (!contents_stream(file, offset, length, &sent)) give_up_on("Cannot read", path);
  return sent;
}

/* Where the next data begins, as far as anybody can tell; UINT64_MAX when only a hole is left. */
static uint64_t next_data(int file, uint64_t offset) {
  off_t data = lseek(file, (off_t)offset, SEEK_DATA);
  if (data >= 0) return (uint64_t)data;
  return errno == ENXIO ? UINT64_MAX : offset;
}

static bool has_holes(const struct stat *st) { return (uint64_t)st->st_blocks * 512u + CHUNK_BYTES < (uint64_t)st->st_size; }

bool contents_equal(int one, int other) {
  static uint8_t left[CHUNK_BYTES];
  static uint8_t right[CHUNK_BYTES];
  struct stat a;
  struct stat b;
  if (fstat(one, &a) != 0 || fstat(other, &b) != 0 || a.st_size != b.st_size) return false;
  /* SECURITY: a file may be a hole larger than anybody can read, and a comparison must end (G-10) */
  bool sparse = has_holes(&a) && has_holes(&b);
  for (uint64_t offset = 0;; offset += CHUNK_BYTES) {
    if (sparse) {
      uint64_t first = next_data(one, offset);
      uint64_t second = next_data(other, offset);
      uint64_t next = first < second ? first : second;
      if (next == UINT64_MAX) return true;
      offset = next - next % CHUNK_BYTES > offset ? next - next % CHUNK_BYTES : offset;
    }
    ssize_t count = read_chunk(one, left, sizeof left, offset);
    if (count < 0 || read_chunk(other, right, sizeof right, offset) != count) return false;
    if (memcmp(left, right, (size_t)count) != 0) return false;
    record_progress();
    if ((size_t)count < sizeof left) return true;
  }
}
