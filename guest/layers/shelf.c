#include "layers/shelf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/launcher.h"
#include "layers/copy_file.h"
#include "layers/layer_place.h"
#include "layers/room.h"

#define BLOCK_BYTES 512u /* of `st_blocks`, whatever the disk has */
#define NUMBER_TEXT 16

static int above = -1;
static int shelf = -1;
static uint32_t kept;
static char own_name[32];

void shelf_open(int top) { above = top; }

/* Made when it is needed: most layers have no such file. The name is one that nobody who wrote the layer could know. */
static void make_shelf(void) {
  uint64_t random = 0;
  if (getrandom(&random, sizeof random, 0) != sizeof random) fail("cannot choose a name");
  snprintf(own_name, sizeof own_name, ".cloche-%016llx", (unsigned long long)random);
  if (mkdirat(above, own_name, 0700) != 0) fail("cannot make a folder");
  shelf = place_open(above, own_name, O_DIRECTORY);
  if (shelf < 0) fail("cannot open a folder");
}

static void number_text(uint32_t number, char text[NUMBER_TEXT]) { snprintf(text, NUMBER_TEXT, "%u", number); }

void shelf_keep(int folder, const char *name) {
  char text[NUMBER_TEXT];
  if (shelf < 0) make_shelf();
  number_text(++kept, text);
  room_take(folder, ROOM_OF_A_NAME);
  if (linkat(folder, name, shelf, text, 0) != 0) fail("cannot keep %s", name);
}

static void copy_kept(const char *text, int folder, const char *name) {
  struct stat st;
  uint64_t bytes = 0;
  int from = place_open(shelf, text, 0);
  if (from < 0 || fstat(from, &st) != 0) fail("cannot open %s", name);
  int to = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (to < 0) fail("cannot make %s", name);
  room_take(folder, (uint64_t)st.st_blocks * BLOCK_BYTES);
  bool good = copy_content(from, to, &st, &bytes) && copy_attributes(from, to) && copy_metadata(to, &st);
  if (!good || close(to) != 0) fail("cannot copy %s", name);
  close(from);
  /* Further names are those of the copy, which has room for them. */
  if (unlinkat(shelf, text, 0) != 0 || linkat(folder, name, shelf, text, 0) != 0) fail("cannot keep %s", name);
}

bool shelf_place(uint32_t number, int folder, const char *name) {
  char text[NUMBER_TEXT];
  if (number == 0 || number > kept) return false;
  number_text(number, text);
  if (linkat(shelf, text, folder, name, 0) == 0) return true;
  if (errno != EMLINK) fail("cannot make %s", name);
  copy_kept(text, folder, name);
  return true;
}

void shelf_clear(void) {
  char text[NUMBER_TEXT];
  if (shelf < 0) return;
  for (uint32_t number = 1; number <= kept; number++) {
    number_text(number, text);
    if (unlinkat(shelf, text, 0) != 0) fail("cannot clear a folder");
  }
  close(shelf);
  shelf = -1;
  if (unlinkat(above, own_name, AT_REMOVEDIR) != 0) fail("cannot remove a folder");
}
