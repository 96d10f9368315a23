#include "builtins/builtin.h"
#include "builtins/resolve.h"
#include "builtins/tree_send.h"

uint64_t builtin_tree_out(char *const *arguments) {
  static struct trail trail;
  struct tree_sent sent = {0};
  struct place place = resolve(argument_root(arguments[0]), arguments[1], 0);
  tree_send(&sent, &trail, place.parent, place.name);
  return sent.bytes;
}
