#include "sink.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "records.h"

#define TRIES 100

static int folder = -1;
static int file = -1;
static char temporary[NAME_MAX + 1];
static volatile sig_atomic_t incomplete;
static const char *shown;

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

void sink_write(const void *bytes, size_t count) {
  const char *at = bytes;
  while (count > 0) {
    ssize_t written = write(file, at, count);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) give_up_on("Cannot write", shown);
    at += written;
    count -= (size_t)written;
  }
}

void sink_commit(const char *name, mode_t mode, const struct timespec *mtime) {
  struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_nsec = UTIME_OMIT}};
  if (mtime) times[1] = *mtime;
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
