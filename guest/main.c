#include <stdio.h>
#include <string.h>

#include "bridge.h"
#include "complain.h"
#include "init.h"

#define VERSION "0.1.0"

/* Builds the container's wall from outside; a build without it has the rest. */
extern int wall_main(int argc, char **argv) __attribute__((weak));

int main(int argc, char **argv) {
  if (argc >= 2 && strcmp(argv[1], "init") == 0) return init_main(argc - 1, argv + 1);
  if (argc >= 2 && strcmp(argv[1], "bridge") == 0) return bridge_main(argc - 1, argv + 1);
  if (argc >= 2 && strcmp(argv[1], "wall") == 0 && wall_main) return wall_main(argc - 1, argv + 1);
  if (argc == 2 && strcmp(argv[1], "--version") == 0) {
    puts("cloche-guest " VERSION);
    return 0;
  }
  complain("Usage: cloche-guest init|wall|bridge|--version");
  return 2;
}
