#include "layers/copy_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/bounds.h"

#define TRIES 4

static bool write_all(int to, const char *bytes, size_t count, off_t at) {
  while (count > 0) {
    ssize_t written = pwrite(to, bytes, count, at);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes += written;
    count -= (size_t)written;
    at += written;
  }
  return true;
}

/* What the kernel cannot copy by itself. Ends early where the file does. */
static bool copy_by_hand(int from, int to, off_t at, off_t end, uint64_t *bytes) {
  static char chunk[CHUNK_BYTES];
  while (at < end) {
    size_t wanted = end - at < (off_t)sizeof chunk ? (size_t)(end - at) : sizeof chunk;
    ssize_t got = pread(from, chunk, wanted, at);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return false;
    if (got == 0) return true;
    if (!write_all(to, chunk, (size_t)got, at)) return false;
    at += got;
    *bytes += (uint64_t)got;
  }
  return true;
}

static bool copy_range(int from, int to, off_t at, off_t end, uint64_t *bytes) {
  off_t there = at;
  while (at < end) {
    ssize_t copied = copy_file_range(from, &at, to, &there, (size_t)(end - at), 0);
    if (copied < 0 && errno == EINTR) continue;
    if (copied < 0 && (errno == EXDEV || errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP)) {
      return copy_by_hand(from, to, at, end, bytes);
    }
    if (copied < 0) return false;
    if (copied == 0) return true;
    *bytes += (uint64_t)copied;
  }
  return true;
}

/* Small and without holes, as nearly all are: to read and write it takes the kernel far less than to look for holes and copy by itself. */
static bool is_plain(const struct stat *st) {
  return st->st_size <= (off_t)CHUNK_BYTES && (off_t)st->st_blocks * 512 >= st->st_size;
}

static bool copy_once(int from, int to, const struct stat *st, uint64_t *bytes) {
  off_t size = st->st_size;
  *bytes = 0;
  if (is_plain(st) && !copy_by_hand(from, to, 0, size, bytes)) return false;
  if (is_plain(st) && *bytes == (uint64_t)size) return true;
  *bytes = 0;
  for (off_t at = 0; at < size;) {
    off_t data = lseek(from, at, SEEK_DATA);
    if (data < 0 && errno == ENXIO) break; /* only a hole is left */
    off_t hole = data < 0 ? -1 : lseek(from, data, SEEK_HOLE);
    if (data < 0) data = at;
    if (hole < 0 || hole > size) hole = size;
    if (!copy_range(from, to, data, hole, bytes)) return false;
    at = hole > at ? hole : size;
  }
  return ftruncate(to, size) == 0;
}

static bool same_time(struct timespec a, struct timespec b) { return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec; }

bool copy_content(int from, int to, struct stat *st, uint64_t *bytes) {
  for (int i = 0; i < TRIES; i++) {
    struct stat before;
    /* What came with the last try may be more than there is now. */
    if (i > 0 && ftruncate(to, 0) != 0) return false;
    if (fstat(from, &before) != 0 || !copy_once(from, to, &before, bytes) || fstat(from, st) != 0) return false;
    bool unchanged = st->st_size == before.st_size && same_time(st->st_mtim, before.st_mtim) && same_time(st->st_ctim, before.st_ctim);
    if (unchanged) break;
  }
  return true;
}

bool attribute_is_kept(const char *name) {
  static const char *const bound[] = {"user.overlay.origin", "user.overlay.nlink", "user.overlay.upper", "user.overlay.uuid"};
  for (size_t i = 0; i < sizeof bound / sizeof *bound; i++) {
    if (strcmp(name, bound[i]) == 0) return false;
  }
  return strncmp(name, "user.", 5) == 0;
}

bool copy_attributes(int from, int to) {
  static char names[ATTRIBUTE_BYTES];
  static char value[ATTRIBUTE_BYTES];
  ssize_t length = flistxattr(from, names, sizeof names);
  if (length < 0) return errno == EOPNOTSUPP;
  for (const char *name = names; name < names + length; name += strlen(name) + 1) {
    if (!attribute_is_kept(name)) continue;
    ssize_t size = fgetxattr(from, name, value, sizeof value);
    if (size < 0 && errno == ENODATA) continue; /* removed meanwhile */
    if (size < 0 || fsetxattr(to, name, value, (size_t)size, 0) != 0) return false;
  }
  return true;
}

bool copy_metadata(int to, const struct stat *st) {
  struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, st->st_mtim};
  /* The owner first: changing it takes bits off the mode. */
  return fchown(to, st->st_uid, st->st_gid) == 0 && fchmod(to, st->st_mode & 07777) == 0 && futimens(to, times) == 0;
}
