#include "builtins/records.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/bounds.h"
#include "builtins/sink.h"
#include "wire/frame.h"

static uint8_t pending[65536];
static size_t pending_size;

static void (*undo_hook)(void);

void before_giving_up(void (*undo)(void)) { undo_hook = undo; }

static void clean_up(void) {
  void (*undo)(void) = undo_hook;
  undo_hook = NULL;
  sink_abandon();
  if (undo) undo();
}

static void write_all(const uint8_t *bytes, size_t count) {
  while (count > 0) {
    ssize_t written = write(STDOUT_FILENO, bytes, count);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      clean_up();
      _exit(1);
    }
    bytes += written;
    count -= (size_t)written;
  }
}

void records_flush(void) {
  write_all(pending, pending_size);
  pending_size = 0;
}

static void out(const void *bytes, size_t count) {
  if (pending_size + count > sizeof pending) records_flush();
  if (count > sizeof pending) {
    write_all(bytes, count);
    return;
  }
  memcpy(pending + pending_size, bytes, count);
  pending_size += count;
}

static void out_string(const char *text, size_t length) {
  uint8_t head[4];
  put_u32(head, (uint32_t)length);
  out(head, sizeof head);
  out(text, length);
}

uint8_t type_of(mode_t mode) { return S_ISREG(mode) ? 'f' : S_ISDIR(mode) ? 'd' : S_ISLNK(mode) ? 'l' : 'o'; }

uint64_t size_of(const struct stat *st) { return S_ISREG(st->st_mode) || S_ISLNK(st->st_mode) ? (uint64_t)st->st_size : 0; }

/* A tree can be deeper than any path can name. */
static void check_path(const char *path) {
  size_t length = strlen(path);
  if (length > MAX_PATH_BYTES) give_up(ENAMETOOLONG, "A path below \"%.100s…\" is longer than %u bytes", path, MAX_PATH_BYTES);
}

/* A time that is too far from 1970 for a number of nanoseconds becomes the nearest one that fits. */
static int64_t nanoseconds(struct timespec t) {
  const int64_t second = 1000000000;
  if (t.tv_sec >= INT64_MAX / second) return INT64_MAX;
  if (t.tv_sec <= INT64_MIN / second) return INT64_MIN;
  return t.tv_sec * second + t.tv_nsec;
}

void record_entry(const struct stat *st, const char *path, const char *link_target) {
  uint8_t head[22];
  check_path(path);
  uint8_t *at = put_u32(put_u8(put_u8(head, 'E'), type_of(st->st_mode)), st->st_mode & 07777);
  put_u64(put_u64(at, size_of(st)), (uint64_t)nanoseconds(st->st_mtim));
  out(head, sizeof head);
  out_string(path, strlen(path));
  out_string(link_target, strlen(link_target));
}

void record_bytes(const void *bytes, size_t count) {
  out("B", 1);
  out_string(bytes, count);
}

void record_file_end(void) { out("Z", 1); }

void record_unreadable(int error) {
  uint8_t head[5];
  put_u32(put_u8(head, 'U'), (uint32_t)error);
  out(head, sizeof head);
}

void record_progress(void) {
  static int64_t last_ms;
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  int64_t now_ms = (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
  if (last_ms == 0) last_ms = now_ms;
  if (now_ms - last_ms < PROGRESS_MS) return;
  last_ms = now_ms;
  if (pending_size > 0) records_flush();
  /* The work goes on when nobody reads any more. */
  else if (write(STDOUT_FILENO, "P", 1) < 0) errno = 0;
}

static uint8_t *put_side(uint8_t *at, const struct stat *st) {
  at = put_u8(at, st ? type_of(st->st_mode) : '-');
  at = put_u32(at, st ? st->st_mode & 07777 : 0);
  return put_u64(at, st ? size_of(st) : 0);
}

void record_change(uint8_t status, const struct stat *now, const struct stat *before, const char *path) {
  uint8_t head[28];
  check_path(path);
  put_side(put_side(put_u8(put_u8(head, 'C'), status), now), before);
  out(head, sizeof head);
  out_string(path, strlen(path));
}

void record_done(uint64_t bytes) {
  uint8_t head[9];
  put_u64(put_u8(head, '.'), bytes);
  out(head, sizeof head);
  records_flush();
}

static void record_error(int error, const char *message) __attribute__((noreturn));
static void record_error(int error, const char *message) {
  uint8_t head[5];
  clean_up();
  put_u32(put_u8(head, 'X'), (uint32_t)error);
  out(head, sizeof head);
  out_string(message, strlen(message));
  records_flush();
  _exit(1);
}

void give_up(int error, const char *format, ...) {
  char message[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  record_error(error, message);
}

void give_up_on(const char *what, const char *path) {
  int error = errno;
  give_up(error, "%s \"%s\": %s", what, path, strerror(error));
}

void *need(void *memory) {
  if (!memory) give_up(ENOMEM, "Out of memory");
  return memory;
}
