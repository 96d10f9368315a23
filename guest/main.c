#include <stdio.h>
#include <string.h>

#include "base/complain.h"
#include "host_programs/copy_files.h"
#include "host_programs/gate_keeper.h"
#include "host_programs/mapped.h"
#include "host_programs/send_tree.h"
#include "host_programs/spread_folders.h"
#include "host_programs/starter.h"
#include "host_programs/sync_folder.h"
#include "host_programs/without_core.h"
#include "init/init.h"
#include "layers/copy_content.h"
#include "layers/copy_layer.h"
#include "layers/layer_stream.h"
#include "layers/remove_tree.h"
#include "machine/emulator.h"
#include "machine/lodge.h"
#include "machine/machine.h"
#include "role.h"
#include "walls/cover.h"
#include "walls/enter.h"
#include "walls/spare.h"
#include "walls/wall.h"
#include "walls/wall_watch.h"
#include "wire/bridge.h"

#define VERSION "0.1.0"

static const struct role {
  const char *name;
  int (*main)(int argc, char **argv);
} roles[] = {
    {"init", init_main},
    {"machine", machine_main},
    {"emulator", emulator_main},
    {"mapped", mapped_main},
    {"enter", enter_main},
    {"wall", wall_main},
    {"wall-watch", wall_watch_main},
    {"spare-wall", spare_main},
    {"gate-keeper", gate_keeper_main},
    {"cover", cover_main},
    {"copy-layer", copy_layer_main},
    {"copy-content", copy_content_main},
    {"copy-files", copy_files_main},
    {"remove", remove_tree_main},
    {"layer-pack", layer_pack_main},
    {"layer-unpack", layer_unpack_main},
    {"lodge", lodge_main},
    {"bridge", bridge_main},
    {"send-tree", send_tree_main},
    {"sync", sync_folder_main},
    {"spread", spread_folders_main},
    {"starter", starter_main},
    {"without-core", without_core_main},
};

int role_play(int argc, char **argv) {
  for (size_t i = 0; argc > 0 && i < sizeof roles / sizeof *roles; i++) {
    if (strcmp(argv[0], roles[i].name) == 0) return roles[i].main(argc, argv);
  }
  return ROLE_UNKNOWN;
}

static void complain_of_usage(void) {
  char names[256] = "";
  for (size_t i = 0; i < sizeof roles / sizeof *roles; i++) {
    size_t used = strlen(names);
    snprintf(names + used, sizeof names - used, "%s|", roles[i].name);
  }
  complain("Usage: cloche-guest %s--version", names);
}

int main(int argc, char **argv) {
  if (argc == 2 && strcmp(argv[1], "--version") == 0) {
    puts("cloche-guest " VERSION);
    return 0;
  }
  int code = role_play(argc - 1, argv + 1);
  if (code != ROLE_UNKNOWN) return code;
  complain_of_usage();
  return 2;
}
