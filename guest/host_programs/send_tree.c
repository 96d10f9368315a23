/*
 * `cloche-guest send-tree [--skip NAME] [--as NAME] [--room BYTES] FOLDER`: writes what is in a folder as the records that `tree-in` takes, without the folder itself. The
 * daemon only passes them on: to read 30,000 small files itself would keep it busy for seconds. When all is told, the number of files and links is on stderr.
 */
#include "host_programs/send_tree.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/launcher.h"
#include "builtins/records.h"
#include "builtins/tree_send.h"

struct send_options {
  const char *skip;   /* the name of something at the top that is left out */
  const char *as;     /* the name that the one thing at the top gets */
  uint64_t room;      /* the most bytes of content; 0: no limit */
  const char *folder;
};

static void read_options(char **argv, struct send_options *o) {
  char **at = argv + 1;
  for (; at[0] && at[1]; at += 2) {
    if (strcmp(at[0], "--skip") == 0) o->skip = at[1];
    else if (strcmp(at[0], "--as") == 0) o->as = at[1];
    else if (strcmp(at[0], "--room") == 0) o->room = strtoull(at[1], NULL, 10);
    else break;
  }
  if (!at[0] || at[1]) fail_usage("missing or unknown option");
  o->folder = at[0];
}

static void no_room(void) __attribute__((noreturn));
static void no_room(void) {
  dprintf(STDERR_FILENO, "no room\n");
  _exit(1);
}

int send_tree_main(int argc, char **argv) {
  (void)argc;
  static struct trail trail;
  struct send_options options = {0};
  struct names names;
  read_options(argv, &options);
  struct tree_sent sent = {.room = options.room, .no_room = no_room};
  int folder = open(options.folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0 || !names_read(folder, &names)) fail("cannot read the folder %s", options.folder);
  for (size_t i = 0; i < names.count; i++) {
    const char *name = names.list[i];
    if (options.skip && strcmp(name, options.skip) == 0) continue;
    size_t back = trail_enter(&trail, options.as ? options.as : name);
    tree_send(&sent, &trail, folder, name);
    trail_leave(&trail, back);
  }
  names_free(&names);
  record_done(sent.bytes);
  dprintf(STDERR_FILENO, "%" PRIu64 "\n", sent.members);
  return 0;
}
