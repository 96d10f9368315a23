#include "builtins/builtin.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "builtins/records.h"
#include "builtins/sink.h"
#include "builtins/view.h"

static const struct {
  const char *name;
  int arguments;
  uint64_t (*run)(char *const *arguments);
} builtins[] = {
    {"stat", 2, builtin_stat},           {"list", 4, builtin_list},         {"read", 4, builtin_read},
    {"read-many", 1, builtin_read_many}, {"write", 3, builtin_write},       {"mkdir", 3, builtin_mkdir},
    {"remove", 3, builtin_remove},       {"tree-out", 2, builtin_tree_out}, {"tree-in", 2, builtin_tree_in},
    {"changes", 2, builtin_changes},     {"layer-out", 0, builtin_layer_out},
};

bool builtin_reads_closed(const char *name) { return strcmp(name, "layer-out") == 0; }

int builtin_main(char *const *argv) {
  struct rlimit descriptors;
  int count = 0;
  sink_guard();
  /* A write to a reader that is gone fails instead of ending the process, so that it can clean up. */
  (void)signal(SIGPIPE, SIG_IGN);
  /* A deep tree takes a descriptor for each folder on the way. */
  if (getrlimit(RLIMIT_NOFILE, &descriptors) == 0) {
    descriptors.rlim_cur = descriptors.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &descriptors);
  }
  while (argv[count]) count++;
  for (size_t i = 0; i < sizeof builtins / sizeof *builtins; i++) {
    if (strcmp(argv[0], builtins[i].name) != 0) continue;
    if (count - 1 != builtins[i].arguments) give_up(EINVAL, "\"%s\" takes %d arguments", argv[0], builtins[i].arguments);
    record_done(builtins[i].run(argv + 1));
    return 0;
  }
  give_up(ENOSYS, "There is no builtin \"%s\"", argv[0]);
}

const struct root *argument_root(const char *text) {
  const struct root *root = root_find(text);
  if (!root) give_up(EINVAL, "There is no root \"%s\"", text);
  if (root->fd < 0) give_up(ENOTSUP, "The root \"%s\" is not there in this sandbox", text);
  return root;
}

static bool is_state(const char *root, size_t *layers) {
  static const char prefix[] = "layers:";
  if (strncmp(root, prefix, sizeof prefix - 1) != 0) return false;
  uint64_t count = argument_number(root + sizeof prefix - 1);
  *layers = count > MAX_LAYERS ? MAX_LAYERS + 1 : (size_t)count;
  return true;
}

struct place argument_place(const char *root, const char *path, unsigned flags) {
  size_t layers;
  return is_state(root, &layers) ? view_place(layers, path) : resolve(argument_root(root), path, flags);
}

void argument_view(const char *root, struct view *view) {
  size_t layers;
  if (is_state(root, &layers)) view_open(view, layers);
  else *view = (struct view){.folders = {argument_root(root)->fd}, .count = 1};
}

const struct root *argument_writable_root(const char *text) {
  const struct root *root = argument_root(text);
  if (!root->writable) give_up(EROFS, "The root \"%s\" is read-only", text);
  return root;
}

static uint64_t parse(const char *text, int base, uint64_t limit) {
  char *end;
  errno = 0;
  unsigned long long value = strtoull(text, &end, base);
  bool digits = text[0] >= '0' && text[0] <= '9';
  if (!digits || *end || errno || value > limit) give_up(EINVAL, "Not a number here: \"%s\"", text);
  return value;
}

uint64_t argument_number(const char *text) { return parse(text, 10, UINT64_MAX); }

unsigned argument_mode(const char *text) { return (unsigned)parse(text, 8, 07777); }
