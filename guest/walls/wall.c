/*
 * `cloche-guest wall`: what has to happen between the daemon and a sandbox of the backend `container`.
 *
 * It runs with the rights of the user who runs cloche and executes nothing that a sandbox controls. In this order:
 * record the pid, listen for the guest program, join the cgroups, take ids of its own if root runs it, enter a new user and mount namespace, limit what it
 * may take of the user's share, mount the overlays on a private tmpfs, and run the program after `--`. With `--hostname` that is the guest program, and the wall is made here;
 * else it is an OCI runtime, which makes one of the same overlays. What of this is the same
 * for all walls may have been made before, by `spare-wall`. All mounts live in that mount namespace, so they end
 * with the sandbox, whatever kills it; the host never sees them and has nothing to unmount.
 */
#include "walls/wall.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/launcher.h"
#include "walls/apart.h"
#include "walls/devices.h"
#include "walls/enclosure.h"
#include "walls/host_folders.h"
#include "walls/idmap.h"
#include "walls/namespace_limits.h"
#include "walls/own_ids.h"
#include "walls/own_network.h"
#include "walls/spare.h"
#include "walls/stage.h"
#include "walls/terminals.h"

#define STATUS_FD 3       /* pipe from the daemon: "B" once the socket is bound, "E message" on failure */
#define PASSED_FD 3       /* the first that the wall finds: the listening socket, the layers, the lock on its ids, the commands' cgroup */
#define MAX_PASSED (MAX_LAYERS + 5u)
#define ABOVE_PASSED (PASSED_FD + (int)MAX_PASSED) /* for what must not get a number of theirs; low, because a user may have few */
#define SOCKET_NAME "guest.sock"
#define MAX_CGROUPS 8

struct wall_options {
  const char *directory;
  struct stage_layers stage;
  struct host_folders folders;
  struct id_map map;
  struct own_ids ids;
  struct apart apart;
  const char *commands_cgroup; /* NULL: none */
  const char *cgroups[MAX_CGROUPS];
  size_t cgroup_count;
  struct enclosure enclosure;
  char **program;
};

static void take_list(const char **list, size_t *count, size_t limit, const char *value, const char *name) {
  if (*count == limit) {
    errno = E2BIG;
    fail("more than %zu times %s", limit, name);
  }
  list[(*count)++] = value;
}

/* False when there is no such option. */
static bool take_option(struct wall_options *o, const char *name, const char *value) {
  struct {
    const char *name;
    const char **value;
  } table[] = {{"--directory", &o->directory},          {"--root", &o->stage.root_path},
               {"--baseline", &o->stage.baseline_path}, {"--guest", &o->stage.guest_path},
               {"--bundle", &o->stage.bundle_path},     {"--socket-folder", &o->stage.socket_path},
               {"--commands-cgroup", &o->commands_cgroup}};
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    if (strcmp(name, table[i].name) != 0) continue;
    *table[i].value = value;
    return true;
  }
  if (strcmp(name, "--layer") == 0) take_list(o->stage.layer_paths, &o->stage.layer_count, MAX_LAYERS, value, name);
  else if (strcmp(name, "--cgroup") == 0) take_list(o->cgroups, &o->cgroup_count, MAX_CGROUPS, value, name);
  else return host_folders_option(&o->folders, name, value) || own_ids_option(&o->ids, name, value) || enclosure_option(&o->enclosure, name, value);
  return true;
}

/* For the starter, which gives a spare if it has one. */
static bool is_spare_flag(const char *name) { return strcmp(name, "--spare") == 0; }

/* An OCI runtime makes the namespaces, the network and the devices by itself, but for terminals. */
static bool makes_wall(const struct wall_options *o) { return o->enclosure.hostname != NULL; }

static void read_options(char **argv, struct wall_options *o) {
  for (char **at = argv + 1; *at;) {
    int taken = id_map_option(&o->map, at);
    if (strcmp(*at, "--") == 0) {
      o->program = at + 1;
      break;
    }
    if (taken == 0 && is_spare_flag(*at)) taken = 1;
    if (taken == 0 && at[1] && take_option(o, at[0], at[1])) taken = 2;
    if (taken == 0) {
      errno = EINVAL;
      fail("unknown option %s", *at);
    }
    at += taken;
  }
  bool complete = o->directory && o->stage.root_path && o->stage.baseline_path && o->stage.guest_path;
  if (!complete || !o->program || !o->program[0] || (makes_wall(o) && !o->enclosure.memory)) fail_usage("missing option");
}

static void open_sources(void *argument) {
  struct wall_options *o = argument;
  stage_open(&o->stage);
  host_folders_open(&o->folders);
}

/* Each gets a number from PASSED_FD on, without close-on-exec. */
static void pass_on(const int *fds, size_t count) {
  int parked[MAX_PASSED];
  for (size_t i = 0; i < count; i++) {
    parked[i] = fcntl(fds[i], F_DUPFD_CLOEXEC, ABOVE_PASSED);
    if (parked[i] < 0) fail("cannot pass a descriptor on");
  }
  for (size_t i = 0; i < count; i++) {
    if (dup2(parked[i], PASSED_FD + (int)i) < 0 || close(parked[i]) < 0) fail("cannot pass a descriptor on");
  }
}

/* Out of the way of what is passed on. */
static void keep_spare(struct spare *spare) {
  for (size_t i = 0; i < SPARE_PARTS; i++) {
    int kept = fcntl(spare->parts[i], F_DUPFD_CLOEXEC, ABOVE_PASSED);
    if (kept < 0 || close(spare->parts[i]) < 0) fail("cannot keep a spare");
    spare->parts[i] = kept;
  }
}

/* Namespaces with their limits, and the stage. */
static void enter(struct wall_options *o, struct own_network *network) {
  id_map_enter(&o->map, CLONE_NEWNS, open_sources, o);
  const char *unlimited = id_map_given(&o->map) ? namespace_limits_set() : NULL;
  if (unlimited) fail("cannot set %s", unlimited);
  if (makes_wall(o)) own_network_begin(network);
  stage_make();
  if (makes_wall(o)) devices_mount();
  else terminals_mount(STAGE "/terminals");
}

static void enter_spare(struct wall_options *o, const struct spare *spare) {
  o->stage.guest_path = NULL;
  id_map_join(&o->map, spare->parts[SPARE_USERS], CLONE_NEWNS, open_sources, o);
  stage_attach(spare->parts[SPARE_STAGE]);
}

static void enter_network(struct wall_options *o, const struct own_network *network, const struct spare *spare) {
  if (!spare && makes_wall(o)) own_network_enter(network);
  if (spare && setns(spare->parts[SPARE_NETWORK], CLONE_NEWNET) < 0) fail("cannot enter the network");
}

int wall_main(int argc, char **argv) {
  (void)argc;
  static struct wall_options options = {.ids = {.lock = -1}};
  launcher_status = fcntl(STATUS_FD, F_DUPFD_CLOEXEC, ABOVE_PASSED);
  if (launcher_status >= 0) close(STATUS_FD);
  struct spare *spare = spare_given;
  if (spare) keep_spare(spare);
  read_options(argv, &options);
  if (chdir(options.directory) < 0) fail("cannot enter %s", options.directory);
  record_own_pid(WALL_PID);
  /* SECURITY: the host makes the socket and the guest only inherits it, so no path that the daemon opens is ever made or
   * replaced by a guest (G-02). */
  int listener = listen_privately(SOCKET_NAME);
  for (size_t at = 0; at < options.cgroup_count; at++) write_text(options.cgroups[at], "0");
  int commands = options.commands_cgroup ? open(options.commands_cgroup, O_WRONLY | O_CLOEXEC) : -1;
  if (options.commands_cgroup && commands < 0) fail("cannot open %s", options.commands_cgroup);
  if (launcher_status >= 0 && write(launcher_status, "B", 1) != 1) fail("cannot report");
  stage_forget_marks();
  if (options.map.shift_count > 0) apart_open(&options.apart, &options.stage, &options.folders, &options.map, &options.ids, spare);
  /* Its ids are of no use where layers cannot have them. */
  if (spare && spare->own_ids > 0 && options.ids.lock < 0) spare = NULL;
  struct own_network network;
  if (spare) enter_spare(&options, spare);
  else enter(&options, &network);
  apart_attach(&options.apart, STAGE);
  stage_mount(&options.stage);
  host_folders_mount(&options.folders, STAGE);
  /* SECURITY: the guest program reaches layers by descriptor, so that no mount of the sandbox names their places on the host (G-01) */
  int passed[MAX_PASSED] = {listener};
  size_t count = 1 + stage_open_passed(&options.stage, passed + 1);
  /* Always that many: an OCI runtime asks how many there are. */
  passed[count++] = options.ids.lock >= 0 ? options.ids.lock : open_path("/dev/null");
  passed[count++] = commands >= 0 ? commands : open_path("/dev/null");
  enter_network(&options, &network, spare);
  if (chdir("/") < 0) fail("cannot enter /");
  pass_on(passed, count);
  if (makes_wall(&options)) enclosure_run(&options.enclosure, &options.folders, &options.map, options.program);
  execvp(options.program[0], options.program);
  fail("cannot run %s", options.program[0]);
}
