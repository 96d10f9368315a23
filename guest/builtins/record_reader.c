#include "builtins/record_reader.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "base/bounds.h"
#include "builtins/records.h"
#include "wire/frame.h"

static uint8_t held[CHUNK_BYTES];
static size_t start;
static size_t end;

static bool heeds_signals;
static sigset_t while_waiting;
static volatile sig_atomic_t told_to_end;

static void on_end(int number) {
  (void)number;
  told_to_end = 1;
}

void reader_heed_signals(void) {
  static const int numbers[] = {SIGTERM, SIGHUP, SIGINT};
  struct sigaction action = {.sa_handler = on_end};
  sigset_t blocked;
  sigemptyset(&blocked);
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) sigaddset(&blocked, numbers[i]);
  sigprocmask(SIG_BLOCK, &blocked, &while_waiting);
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) sigaction(numbers[i], &action, NULL);
  heeds_signals = true;
}

static void wait_for_input(void) {
  struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
  if (heeds_signals && ppoll(&input, 1, NULL, &while_waiting) < 0 && errno != EINTR) give_up_on("Cannot read", "stdin");
  if (told_to_end) give_up(EINTR, "It was ended before all had come");
}

static void fill(void) {
  ssize_t count;
  wait_for_input();
  do {
    count = read(STDIN_FILENO, held, sizeof held);
  } while (count < 0 && errno == EINTR);
  if (count < 0) give_up_on("Cannot read", "stdin");
  if (count == 0) give_up(EPIPE, "The records ended early");
  start = 0;
  end = (size_t)count;
}

size_t next_bytes(void *bytes, size_t limit) {
  if (start == end) fill();
  size_t count = end - start < limit ? end - start : limit;
  memcpy(bytes, held + start, count);
  start += count;
  return count;
}

static void next_exactly(void *bytes, size_t count) {
  for (uint8_t *at = bytes; count > 0;) {
    size_t got = next_bytes(at, count);
    at += got;
    count -= got;
  }
}

uint8_t next_kind(void) {
  uint8_t kind;
  next_exactly(&kind, 1);
  return kind;
}

uint32_t next_length(void) {
  uint8_t bytes[4];
  next_exactly(bytes, sizeof bytes);
  struct reader r = {.at = bytes, .left = sizeof bytes};
  return read_u32(&r);
}

uint64_t next_number(void) {
  uint8_t bytes[8];
  next_exactly(bytes, sizeof bytes);
  struct reader r = {.at = bytes, .left = sizeof bytes};
  return read_u64(&r);
}

bool next_short_text(char text[PATH_MAX]) {
  uint32_t length = next_length();
  if (length >= PATH_MAX) {
    for (uint32_t left = length; left > 0;) left -= (uint32_t)next_bytes(text, left < PATH_MAX ? left : PATH_MAX);
    return false;
  }
  next_exactly(text, length);
  text[length] = 0;
  if (strlen(text) != length) give_up(EINVAL, "A path in the records holds a NUL");
  return true;
}

void next_text(char text[PATH_MAX]) {
  if (!next_short_text(text)) give_up(ENAMETOOLONG, "A path in the records is too long");
}

/* Also of a time before 1970: nanoseconds count forward from a second. */
static struct timespec time_of(int64_t ns) {
  const int64_t second = 1000000000;
  int64_t rest = ns % second;
  return (struct timespec){.tv_sec = (time_t)(ns / second - (rest < 0)), .tv_nsec = (long)(rest < 0 ? rest + second : rest)};
}

void next_member(struct member *member) {
  next_exactly(&member->type, 1);
  member->mode = next_length() & 07777;
  (void)next_number();
  member->mtime = time_of((int64_t)next_number());
  next_text(member->path);
  next_text(member->target);
}
