#include <stdio.h>
#include <string.h>

#include "bridge.h"
#include "complain.h"
#include "copy_content.h"
#include "copy_layer.h"
#include "cover.h"
#include "emulator.h"
#include "enter.h"
#include "gate_keeper.h"
#include "init.h"
#include "layer_stream.h"
#include "lodge.h"
#include "machine.h"
#include "mapped.h"
#include "remove_tree.h"
#include "wall.h"

#define VERSION "0.1.0"

int main(int argc, char **argv) {
  if (argc >= 2 && strcmp(argv[1], "init") == 0) return init_main(argc - 1, argv + 1);
  if (argc >= 2 && strcmp(argv[1], "emulator") == 0) return emulator_main(argc - 1, argv + 1);
  if (argc >= 2 && strcmp(argv[1], "mapped") == 0) return mapped_main(argc - 1, argv + 1);
  if (argc >= 2 && strcmp(argv[1], "enter") == 0) return enter_main(argc - 1, argv + 1);
  if (argc >= 2 && strcmp(argv[1], "bridge") == 0) return bridge_main(argc - 1, argv + 1);
  if (argc >= 2 && strcmp(argv[1], "wall") == 0) return wall_main(argc - 1, argv + 1);
  if (argc >= 2 && strcmp(argv[1], "gate-keeper") == 0) return gate_keeper_main(argc - 1, argv + 1);
  if (argc >= 2 && strcmp(argv[1], "copy-layer") == 0) return copy_layer_main(argc - 1, argv + 1);
  if (argc >= 2 && strcmp(argv[1], "remove") == 0) return remove_tree_main(argc - 1, argv + 1);
  if (argc >= 2 && strcmp(argv[1], "cover") == 0) return cover_main(argc - 1, argv + 1);
  if (argc == 2 && strcmp(argv[1], "copy-content") == 0) return copy_content_main();
  if (argc >= 2 && strcmp(argv[1], "lodge") == 0) return lodge_main(argc - 1, argv + 1);
  if (argc >= 2 && strcmp(argv[1], "layer-pack") == 0) return layer_pack_main(argc - 1, argv + 1);
  if (argc >= 2 && strcmp(argv[1], "layer-unpack") == 0) return layer_unpack_main(argc - 1, argv + 1);
  if (argc == 2 && strcmp(argv[1], "machine") == 0) return machine_main();
  if (argc == 2 && strcmp(argv[1], "--version") == 0) {
    puts("cloche-guest " VERSION);
    return 0;
  }
  complain("Usage: cloche-guest init|machine|emulator|mapped|enter|wall|gate-keeper|cover|copy-layer|copy-content|remove|layer-pack|layer-unpack|lodge|bridge|--version");
  return 2;
}
