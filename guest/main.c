#include <stdio.h>
#include <string.h>

#include "bridge.h"
#include "complain.h"
#include "copy_layer.h"
#include "init.h"
#include "wall.h"

#define VERSION "0.1.0"

int main(int argc, char **argv) {
  if (argc >= 2 && strcmp(argv[1], "init") == 0) return init_main(argc - 1, argv + 1);
  if (argc >= 2 && strcmp(argv[1], "bridge") == 0) return bridge_main(argc - 1, argv + 1);
  if (argc >= 2 && strcmp(argv[1], "wall") == 0) return wall_main(argc - 1, argv + 1);
  if (argc >= 2 && strcmp(argv[1], "copy-layer") == 0) return copy_layer_main(argc - 1, argv + 1);
  if (argc == 2 && strcmp(argv[1], "--version") == 0) {
    puts("cloche-guest " VERSION);
    return 0;
  }
  complain("Usage: cloche-guest init|wall|copy-layer|bridge|--version");
  return 2;
}
