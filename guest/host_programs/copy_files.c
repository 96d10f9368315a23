/*
 * `cloche-guest copy-files [--owner UID:GID] FROM TO`: copies the files that are named on stdin from a folder to another, in which all folders are there
 * already. Several of these work side by side, each with its own part of an import.
 *
 * Stdin: `D`, a folder as text; for each file in it `F`, its inode, size and time of change in milliseconds as the scan saw them, and its name; then `.`.
 * Stdout: a line for each thing to know, where N counts the files: "left N" (has several names, or the kernel is too old: the caller's to copy), "changed N",
 * "unreadable ERRNO N", and "done N" now and then. The first that has changed or cannot be read is the last that is looked at.
 */
#include "host_programs/copy_files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/launcher.h"
#include "builtins/record_reader.h"
#include "layers/copy_file.h"
#include "layers/room.h"

#define TELL_EVERY 500u
#define SMALL_BYTES (1024u * 1024u)
#define BLOCK_BYTES 512u /* of `st_blocks`, whatever the disk has */

/* As `struct open_how` and what belongs to it, which not every libc has. */
struct how_to_open {
  uint64_t flags, mode, resolve;
};
#define NO_LINKS 0x04u

/* As the scan saw it. */
struct seen {
  uint64_t inode;
  uint64_t size;
  double changed_ms;
  char name[PATH_MAX];
};

static int from_root;
static int to_root;
static int from = -1; /* the folder that is copied */
static int to = -1;
static bool has_owner;
static uid_t owner;
static gid_t group;
static unsigned long count;

/* SECURITY: whoever else can write to the project may have put a link in a folder's place, to what only this user can read (G-23, G-24) */
static int open_exactly(int folder, const char *path, int flags) {
  struct how_to_open how = {.flags = (uint64_t)(unsigned)(flags | O_NOFOLLOW | O_CLOEXEC), .resolve = NO_LINKS};
  return (int)syscall(SYS_openat2, folder, path, &how, sizeof how);
}

static bool is_old_kernel(void) { return errno == ENOSYS || errno == EPERM; }

static void stop(const char *what) __attribute__((noreturn));
static void stop(const char *what) {
  printf("%s %lu\n", what, count);
  (void)fflush(stdout);
  _exit(0);
}

static void stop_unreadable(void) __attribute__((noreturn));
static void stop_unreadable(void) {
  char text[64];
  snprintf(text, sizeof text, "unreadable %d", errno);
  stop(text);
}

/* In the doubles that the scan has. */
static double milliseconds(struct timespec t) { return (double)t.tv_sec * 1000.0 + (double)t.tv_nsec / 1e6; }

static void require_same(int file, const struct seen *seen, struct stat *st) {
  if (fstat(file, st) != 0) stop_unreadable();
  bool same = (double)st->st_ino == (double)seen->inode && (uint64_t)st->st_size == seen->size && milliseconds(st->st_ctim) == seen->changed_ms;
  if (!same || !S_ISREG(st->st_mode)) stop("changed");
}

static bool is_zero(const char *bytes, size_t size) { return size == 0 || (bytes[0] == 0 && memcmp(bytes, bytes + 1, size - 1) == 0); }

static void write_all(int file, const char *bytes, size_t size) {
  while (size > 0) {
    ssize_t written = write(file, bytes, size);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("cannot write");
    bytes += written;
    size -= (size_t)written;
  }
}

/* What is zeros becomes a hole, which takes no room. */
static void copy_small(int source, int target, size_t size) {
  static char bytes[SMALL_BYTES];
  size_t have = 0;
  while (have < size) {
    ssize_t got = read(source, bytes + have, size - have);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) stop_unreadable();
    if (got == 0) break; /* shorter than the scan saw it: looked at again below */
    have += (size_t)got;
  }
  if (!is_zero(bytes, have)) write_all(target, bytes, have);
  else if (have > 0 && ftruncate(target, (off_t)have) != 0) fail("cannot write");
}

/* The kernel shares the blocks where the file system can; never a hard link, which would let a write reach the source. */
static void copy_large(int source, int target, struct stat *st) {
  uint64_t bytes;
  if (ioctl(target, FICLONE, source) == 0) return;
  if (!copy_content(source, target, st, &bytes)) fail("cannot copy");
}

static void copy_one(const struct seen *seen) {
  struct stat st;
  int source = from < 0 ? -1 : open_exactly(from, seen->name, O_RDONLY | O_NONBLOCK);
  if (source < 0) stop_unreadable();
  require_same(source, seen, &st);
  if (st.st_nlink > 1) {
    printf("left %lu\n", count);
    close(source);
    return;
  }
  uint64_t used = (uint64_t)st.st_blocks * BLOCK_BYTES;
  room_take(to, ROOM_OF_A_NAME + (used < seen->size ? used : seen->size));
  /* SECURITY: no setuid, setgid or sticky bit comes in (G-06); the user can always read and write what is in the workspace */
  int target = openat(to, seen->name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, (st.st_mode & 0777) | 0600);
  if (target < 0) fail("cannot write");
  if (seen->size <= SMALL_BYTES) copy_small(source, target, (size_t)seen->size);
  else copy_large(source, target, &st);
  require_same(source, seen, &st);
  struct timespec times[2] = {st.st_mtim, st.st_mtim};
  if (has_owner && fchown(target, owner, group) != 0) fail("cannot write");
  if (futimens(target, times) != 0 || close(target) != 0) fail("cannot write");
  close(source);
}

static void enter_folder(const char *path) {
  if (from >= 0) close(from);
  if (to >= 0) close(to);
  from = open_exactly(from_root, *path ? path : ".", O_PATH | O_DIRECTORY);
  to = openat(to_root, *path ? path : ".", O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (to < 0) fail("cannot open a folder of the copy");
  if (from < 0) stop_unreadable();
}

static double next_double(void) {
  uint64_t bits = next_number();
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static void leave_all(void) {
  static struct seen seen;
  for (uint8_t kind; (kind = next_kind()) != '.';) {
    if (kind == 'F') {
      (void)next_number();
      (void)next_number();
      (void)next_number();
      printf("left %lu\n", count++);
    }
    next_text(seen.name);
  }
}

static void copy_all(void) {
  static struct seen seen;
  static char folder[PATH_MAX];
  for (uint8_t kind; (kind = next_kind()) != '.';) {
    if (kind == 'D') {
      next_text(folder);
      enter_folder(folder);
      continue;
    }
    seen.inode = next_number();
    seen.size = next_number();
    seen.changed_ms = next_double();
    next_text(seen.name);
    copy_one(&seen);
    count++;
    if (count % TELL_EVERY == 0) {
      printf("done %lu\n", count);
      (void)fflush(stdout);
    }
  }
}

int copy_files_main(int argc, char **argv) {
  if (argc == 5 && strcmp(argv[1], "--owner") == 0) {
    char *rest;
    has_owner = true;
    owner = (uid_t)strtoul(argv[2], &rest, 10);
    if (*rest != ':') fail_usage("not an owner");
    group = (gid_t)strtoul(rest + 1, NULL, 10);
    argv += 2;
  } else if (argc != 3) fail_usage("missing argument");
  umask(0);
  from_root = open_exactly(AT_FDCWD, argv[1], O_PATH | O_DIRECTORY);
  bool old_kernel = from_root < 0 && is_old_kernel();
  if (from_root < 0 && !old_kernel) stop_unreadable();
  to_root = open_path(argv[2]);
  if (old_kernel) leave_all();
  else copy_all();
  printf("done %lu\n", count);
  return fflush(stdout) == 0 ? 0 : 1;
}
