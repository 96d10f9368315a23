#include "builtins/sink.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "builtins/records.h"

#define TRIES 100
#define HOLE_BYTES 4096u

static int folder = -1;
static int file = -1;
static char temporary[NAME_MAX + 1];
static volatile sig_atomic_t incomplete;
static const char *shown;
static off_t offset;

void sink_abandon(void) {
  if (incomplete) unlinkat(folder, temporary, 0);
  incomplete = 0;
}

static void on_term(int number) {
  (void)number;
  sink_abandon();
  _exit(1);
}

void sink_guard(void) {
  struct sigaction action = {.sa_handler = on_term};
  sigaction(SIGTERM, &action, NULL);
  sigaction(SIGHUP, &action, NULL);
  sigaction(SIGINT, &action, NULL);
}

static void choose_name(void) {
  uint32_t random = 0;
  if (getrandom(&random, sizeof random, 0) < 0) random = (uint32_t)getpid();
  snprintf(temporary, sizeof temporary, ".cloche-%08x.tmp", random);
}

static bool create(int parent) {
  folder = parent;
  file = openat(parent, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  incomplete = file >= 0;
  offset = 0;
  return file >= 0;
}

void sink_begin(int parent, const char *path) {
  shown = path;
  for (int i = 0; i < TRIES; i++) {
    choose_name();
    if (create(parent)) return;
    if (errno != EEXIST) break;
  }
  give_up_on("Cannot write", path);
}

bool sink_begin_new(int parent, const char *name, const char *path) {
  shown = path;
  snprintf(temporary, sizeof temporary, "%s", name);
  if (create(parent)) return true;
  if (errno != EEXIST) give_up_on("Cannot write", path);
  return false;
}

static bool is_zero_block(const char *bytes) { return bytes[0] == 0 && memcmp(bytes, bytes + 1, HOLE_BYTES - 1) == 0; }

/* How much of it is to be written before the next block of the file that is all zeros. */
static size_t before_hole(const char *bytes, size_t count) {
  size_t at = (size_t)(-offset & (off_t)(HOLE_BYTES - 1));
  while (at + HOLE_BYTES <= count && !is_zero_block(bytes + at)) at += HOLE_BYTES;
  return at + HOLE_BYTES <= count ? at : count;
}

static void write_here(const char *bytes, size_t count) {
  while (count > 0) {
    ssize_t written = pwrite(file, bytes, count, offset);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) give_up_on("Cannot write", shown);
    bytes += written;
    count -= (size_t)written;
    offset += written;
  }
}

/* SECURITY: a hole came as zeros, and is a hole again: what takes no room at one side takes none at the other (G-15) */
void sink_write(const void *bytes, size_t count) {
  const char *at = bytes;
  while (count > 0) {
    size_t part = before_hole(at, count);
    write_here(at, part);
    at += part;
    count -= part;
    if (count == 0) return;
    at += HOLE_BYTES;
    count -= HOLE_BYTES;
    offset += HOLE_BYTES;
  }
}

void sink_commit(const char *name, mode_t mode, const struct timespec *mtime) {
  struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_nsec = UTIME_OMIT}};
  if (mtime) times[1] = *mtime;
  /* A hole at the end is only a size. */
  if (ftruncate(file, offset) != 0) give_up_on("Cannot write", shown);
  if (fchmod(file, mode) != 0 || (mtime && futimens(file, times) != 0)) give_up_on("Cannot write", shown);
  if (strcmp(name, temporary) != 0 && renameat(folder, temporary, folder, name) != 0) give_up_on("Cannot write", shown);
  incomplete = 0;
  if (close(file) != 0) give_up_on("Cannot write", shown);
}

void sink_link(int parent, const char *name, const char *target, const char *path) {
  shown = path;
  if (symlinkat(target, parent, name) == 0) return;
  if (errno != EEXIST) give_up_on("Cannot link", path);
  folder = parent;
  choose_name();
  if (symlinkat(target, parent, temporary) != 0) give_up_on("Cannot link", path);
  incomplete = 1;
  if (renameat(parent, temporary, parent, name) != 0) give_up_on("Cannot link", path);
  incomplete = 0;
}
