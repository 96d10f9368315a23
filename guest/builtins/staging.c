#include "builtins/staging.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "builtins/folder.h"
#include "builtins/records.h"

#define TRIES 100

static int above = -1;
static int folder = -1;
static char own_name[STAGED_NAME];
static size_t last_number;

void staging_open(int parent) {
  for (int i = 0; i < TRIES; i++) {
    uint32_t random = 0;
    if (getrandom(&random, sizeof random, 0) < 0) random = (uint32_t)getpid() + (uint32_t)i;
    snprintf(own_name, sizeof own_name, ".cloche-%08x", random);
    if (mkdirat(parent, own_name, 0700) == 0) {
      above = parent;
      folder = openat(parent, own_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
      if (folder < 0) give_up_on("Cannot open", own_name);
      return;
    }
    if (errno != EEXIST) break;
  }
  give_up_on("Cannot make", own_name);
}

int staging_folder(void) { return folder; }

size_t staging_next(void) { return ++last_number; }

void staging_name(size_t number, char name[STAGED_NAME]) { snprintf(name, STAGED_NAME, "%zu", number); }

/* SECURITY: links are removed and never entered (G-16) */
static void discard(int parent, const char *name, unsigned depth) {
  struct names names;
  record_progress();
  if (unlinkat(parent, name, 0) == 0 || unlinkat(parent, name, AT_REMOVEDIR) == 0) return;
  if (depth > TRAIL_DEPTH) return;
  int inner = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (inner < 0 && errno == EACCES) {
    /* Closed by its owner, who is the user that we are. */
    if (fchmodat(parent, name, 0700, 0) != 0) return;
    inner = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  }
  if (inner < 0) return;
  (void)fchmod(inner, 0700);
  if (names_read(inner, &names)) {
    for (size_t i = 0; i < names.count; i++) discard(inner, names.list[i], depth + 1);
    names_free(&names);
  }
  close(inner);
  (void)unlinkat(parent, name, AT_REMOVEDIR);
}

void staging_discard(void) {
  if (above < 0) return;
  if (folder >= 0) close(folder);
  discard(above, own_name, 0);
  above = folder = -1;
}
