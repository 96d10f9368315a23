/*
 * `cloche-guest wall`: what has to happen between the daemon and the wall (bubblewrap or an OCI runtime).
 *
 * It runs with the rights of the user who runs cloche and executes nothing that a sandbox controls. In this order:
 * record the pid, listen for the guest program, join the cgroups, enter a new user and mount namespace, limit what it
 * may take of the user's share, mount the overlays on a private tmpfs, and become the program after `--`. All mounts live in that mount namespace, so they end
 * with the sandbox, whatever kills it; the host never sees them and has nothing to unmount.
 */
#include "wall.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "idmap.h"
#include "launcher.h"
#include "namespace_limits.h"
#include "stage.h"
#include "terminals.h"

#define STATUS_FD 3       /* pipe from the daemon: "B" once the socket is bound, "E message" on failure */
#define LISTEN_FD 3       /* where the wall finds the listening socket, after the status pipe has moved away */
#define COMMANDS_FD 4     /* and the file by which commands join their cgroup, if they have one */
#define SOCKET_NAME "guest.sock"
#define MAX_CGROUPS 8

struct wall_options {
  const char *directory;
  struct stage_layers stage;
  struct id_map map;
  const char *commands_cgroup; /* NULL: none */
  const char *cgroups[MAX_CGROUPS];
  size_t cgroup_count;
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
               {"--bundle", &o->stage.bundle_path},     {"--door", &o->stage.door_path},
               {"--commands-cgroup", &o->commands_cgroup}};
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    if (strcmp(name, table[i].name) != 0) continue;
    *table[i].value = value;
    return true;
  }
  if (strcmp(name, "--layer") == 0) take_list(o->stage.layer_paths, &o->stage.layer_count, MAX_LAYERS, value, name);
  else if (strcmp(name, "--cgroup") == 0) take_list(o->cgroups, &o->cgroup_count, MAX_CGROUPS, value, name);
  else return false;
  return true;
}

static void read_options(char **argv, struct wall_options *o) {
  for (char **at = argv + 1; *at;) {
    int taken = id_map_option(&o->map, at);
    if (strcmp(*at, "--") == 0) {
      o->program = at + 1;
      break;
    }
    if (taken == 0 && at[1] && take_option(o, at[0], at[1])) taken = 2;
    if (taken == 0) {
      errno = EINVAL;
      fail("unknown option %s", *at);
    }
    at += taken;
  }
  bool complete = o->directory && o->stage.root_path && o->stage.baseline_path && o->stage.guest_path;
  if (!complete || !o->program || !o->program[0]) fail_usage("missing option");
}

/* Copied even when it has that number already: only a copy is without close-on-exec. What has the number now is not needed any more. */
static void pass_on(int fd, int number) {
  int passed = fcntl(fd, F_DUPFD, COMMANDS_FD + 1);
  if (passed < 0 || dup2(passed, number) < 0 || close(passed) < 0) fail("cannot pass descriptor %d on", number);
}

int wall_main(int argc, char **argv) {
  (void)argc;
  static struct wall_options options;
  launcher_status = fcntl(STATUS_FD, F_DUPFD_CLOEXEC, 10);
  if (launcher_status >= 0) close(STATUS_FD);
  read_options(argv, &options);
  if (chdir(options.directory) < 0) fail("cannot enter %s", options.directory);
  record_own_pid();
  /* SECURITY: the host makes the socket and the guest only inherits it, so no path that the daemon opens is ever made or
   * replaced by a guest (G-02). */
  int listener = listen_privately(SOCKET_NAME);
  for (size_t at = 0; at < options.cgroup_count; at++) write_text(options.cgroups[at], "0");
  int commands = options.commands_cgroup ? open(options.commands_cgroup, O_WRONLY | O_CLOEXEC) : -1;
  if (options.commands_cgroup && commands < 0) fail("cannot open %s", options.commands_cgroup);
  if (launcher_status >= 0 && write(launcher_status, "B", 1) != 1) fail("cannot report");
  id_map_enter(&options.map, CLONE_NEWNS, stage_open, &options.stage);
  const char *unlimited = id_map_given(&options.map) ? namespace_limits_set() : NULL;
  if (unlimited) fail("cannot set %s", unlimited);
  stage_mount(&options.stage);
  terminals_mount();
  pass_on(listener, LISTEN_FD);
  if (commands >= 0) pass_on(commands, COMMANDS_FD);
  if (chdir("/") < 0) fail("cannot enter /");
  execvp(options.program[0], options.program);
  fail("cannot run %s", options.program[0]);
}
