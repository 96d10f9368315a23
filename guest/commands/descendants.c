#include "commands/descendants.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define QUICK_ROUNDS 4
#define FREEZE_ROUNDS 16
#define MAX_DEPTH 100000

enum verdict { UNKNOWN, INSIDE, OUTSIDE };

struct entry {
  pid_t pid;
  pid_t parent;
  char state;
  enum verdict verdict;
};

static DIR *proc;
static int spare_fd = -1; /* given up for a moment so that a full descriptor table cannot keep us from killing */
static struct entry *entries;
static size_t entry_count;
static size_t entry_capacity;

bool descendants_open(void) {
  int fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return false;
  proc = fdopendir(fd);
  spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
  return proc != NULL;
}

static bool read_entry(const char *name, struct entry *e) {
  char path[64];
  char text[512];
  snprintf(path, sizeof path, "%.20s/stat", name);
  int fd = openat(dirfd(proc), path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  ssize_t count = read(fd, text, sizeof text - 1);
  close(fd);
  if (count <= 0) return false;
  text[count] = 0;
  /* The name is in brackets and may hold anything, brackets too. */
  const char *after = strrchr(text, ')');
  int parent;
  char state;
  if (!after || sscanf(after + 1, " %c %d", &state, &parent) != 2) return false;
  *e = (struct entry){.pid = (pid_t)strtol(name, NULL, 10), .parent = parent, .state = state};
  return true;
}

static bool add_entry(const struct entry *e) {
  if (entry_count == entry_capacity) {
    size_t capacity = entry_capacity ? entry_capacity * 2 : 256;
    struct entry *grown = realloc(entries, capacity * sizeof *grown);
    if (!grown) return false;
    entries = grown;
    entry_capacity = capacity;
  }
  entries[entry_count++] = *e;
  return true;
}

static int by_pid(const void *a, const void *b) {
  pid_t left = ((const struct entry *)a)->pid;
  pid_t right = ((const struct entry *)b)->pid;
  return left < right ? -1 : left > right;
}

static struct entry *find_entry(pid_t pid) {
  struct entry key = {.pid = pid};
  return entry_count ? bsearch(&key, entries, entry_count, sizeof key, by_pid) : NULL;
}

static void scan(void) {
  entry_count = 0;
  if (!proc) return;
  if (spare_fd >= 0) close(spare_fd);
  rewinddir(proc);
  for (struct dirent *d; (d = readdir(proc));) {
    struct entry e;
    if (d->d_name[0] < '1' || d->d_name[0] > '9' || !read_entry(d->d_name, &e)) continue;
    if (!add_entry(&e)) break;
  }
  spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (entry_count) qsort(entries, entry_count, sizeof *entries, by_pid);
}

static enum verdict judge(struct entry *e, pid_t root) {
  enum verdict verdict = OUTSIDE;
  struct entry *at = e;
  for (int depth = 0; at && depth < MAX_DEPTH; depth++) {
    if (at->verdict != UNKNOWN) {
      verdict = at->verdict;
      break;
    }
    if (at->parent == root) {
      verdict = INSIDE;
      break;
    }
    at = find_entry(at->parent);
  }
  /* The whole way up shares the answer, which keeps a deep tree cheap. */
  for (struct entry *mark = e; mark && mark != at; mark = find_entry(mark->parent)) mark->verdict = verdict;
  if (at) at->verdict = verdict;
  return verdict;
}

size_t descendants_signal(pid_t root, int signal_number) {
  size_t found = 0;
  scan();
  for (size_t i = 0; i < entry_count; i++) {
    struct entry *e = &entries[i];
    if (e->pid == root || judge(e, root) != INSIDE || e->state == 'Z' || e->state == 'X') continue;
    if (kill(e->pid, signal_number) == 0) found++;
  }
  return found;
}

/* What forks faster than it can be found is stopped first: a stopped process makes no more, so that the rounds come to an end. */
static void freeze(pid_t root) {
  for (int round = 0; round < FREEZE_ROUNDS; round++) {
    size_t fresh = 0;
    scan();
    for (size_t i = 0; i < entry_count; i++) {
      struct entry *e = &entries[i];
      if (e->pid == root || judge(e, root) != INSIDE || strchr("ZXTt", e->state)) continue;
      if (kill(e->pid, SIGSTOP) == 0) fresh++;
    }
    if (fresh < 2) return;
  }
}

void descendants_kill(pid_t root) {
  freeze(root);
  for (int round = 0; round < QUICK_ROUNDS; round++) {
    if (descendants_signal(root, SIGKILL) == 0) return;
  }
}

bool descendants_include(pid_t pid) {
  pid_t self = getpid();
  for (int depth = 0; depth < MAX_DEPTH; depth++) {
    char name[16];
    struct entry e;
    if (pid == self) return true;
    if (pid <= 0) return false;
    snprintf(name, sizeof name, "%d", pid);
    if (!proc || !read_entry(name, &e)) return true;
    pid = e.parent;
  }
  return true;
}
