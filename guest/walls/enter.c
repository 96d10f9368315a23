/*
 * `cloche-guest enter MAP --program PATH [--own-network] [--release PATH] [--hide PATH]… -- init --socket-folder FOLDER …`: the first process of a container whose root is the host's.
 *
 * The engine has made namespaces, mounts and limits, but its container knows the host's own user ids. So this listens for the daemon, takes hold of the
 * layers, unmounts all that names the host, enters a user namespace whose ids no account of the host has, and becomes the guest program. Nothing of the sandbox has
 * run by then, and nothing keeps a capability outside of that namespace.
 */
#include "walls/enter.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/complain.h"
#include "base/launcher.h"
#include "walls/container_cgroup.h"
#include "walls/idmap.h"
#include "walls/keep_capabilities.h"
#include "walls/namespace_limits.h"
#include "wire/listener.h"

#define PROGRAM "/proc/self/exe"
#define SOCKET_NAME "guest.sock"

static bool names_layer(const char *word) {
  return strcmp(word, "--upper") == 0 || strcmp(word, "--baseline") == 0 || strcmp(word, "--layer") == 0;
}

/* SECURITY: from here on a layer is reached by its descriptor only, and the names of the host are gone from the sandbox (G-01, G-05) */
static void hide(const char *path) {
  if (umount2(path, MNT_DETACH) != 0) fail("cannot unmount %s", path);
}

/* The kernel has made a folder there, for the overlay that the engine has mounted, that only root can look into or empty. */
static void release(const char *path) {
  char inner[256];
  snprintf(inner, sizeof inner, "%s/work", path);
  if (chmod(inner, 0707) != 0 && errno != ENOENT) fail("cannot let go of %s", inner);
  hide(path);
}

static char *keep_text(const char *text) {
  char *copy = strdup(text);
  if (!copy) fail("cannot keep \"%s\"", text);
  return copy;
}

static char *take_hold(const char *path) {
  char name[32];
  int fd = open_path(path);
  /* A copy without close-on-exec. */
  int passed = dup(fd);
  if (passed < 0) fail("cannot keep %s", path);
  close(fd);
  hide(path);
  snprintf(name, sizeof name, "/proc/self/fd/%d", passed);
  return keep_text(name);
}

static void nothing_to_open(void *argument) { (void)argument; }

/* As the user who owns the socket folder on the host, so that only that one, and the host's root, may connect. */
static char *listen_in(const char *folder, const struct id_map *map) {
  char socket[256], number[16];
  uid_t uid = map->agent ? map->agent_uid : (uid_t)map->shift_base;
  gid_t gid = map->agent ? map->agent_gid : (gid_t)map->shift_base;
  snprintf(socket, sizeof socket, "%s/" SOCKET_NAME, folder);
  if (setegid(gid) < 0 || seteuid(uid) < 0) fail("cannot become the owner of the socket folder");
  int listener = listener_open(socket);
  if (listener < 0) _exit(125);
  if (seteuid(0) < 0 || setegid(0) < 0) fail("cannot become root again");
  int passed = dup(listener);
  if (passed < 0) fail("cannot keep the socket");
  close(listener);
  /* SECURITY: the guest inherits its socket, and no path that the daemon opens can be replaced from the sandbox (G-02) */
  hide(folder);
  snprintf(number, sizeof number, "%d", passed);
  return keep_text(number);
}

/* Opened as the host's root, who may let processes join it; the guest program could not. */
static char *open_commands_cgroup(const char *bytes) {
  char number[16];
  snprintf(number, sizeof number, "%d", container_cgroup_open(bytes));
  return keep_text(number);
}

struct enter_options {
  struct id_map map;
  char *program;
  bool own_network;
  char **words; /* of `init`, after "--" */
};

static void read_options(char **argv, struct enter_options *o) {
  char **at = argv + 1;
  while (*at && strcmp(*at, "--") != 0) {
    int taken = id_map_option(&o->map, at);
    if (taken == 0 && at[1] && strcmp(*at, "--program") == 0) {
      o->program = at[1];
      taken = 2;
    } else if (taken == 0 && strcmp(*at, "--own-network") == 0) {
      o->own_network = true;
      taken = 1;
    } else if (taken == 0 && at[1] && strcmp(*at, "--release") == 0) {
      release(at[1]);
      taken = 2;
    } else if (taken == 0 && at[1] && strcmp(*at, "--hide") == 0) {
      /* An engine without a network for the container may have mounted nothing there. */
      if (umount2(at[1], MNT_DETACH) != 0 && errno != EINVAL && errno != ENOENT) fail("cannot unmount %s", at[1]);
      taken = 2;
    }
    if (taken == 0) fail_usage("unknown option");
    at += taken;
  }
  o->words = at;
  if (!*at || !at[1] || !o->program || !id_map_given(&o->map)) fail_usage("missing option");
}

int enter_main(int argc, char **argv) {
  (void)argc;
  struct enter_options o = {0};
  read_options(argv, &o);
  for (char **word = o.words + 1; *word && word[1]; word++) {
    if (names_layer(*word)) {
      word[1] = take_hold(word[1]);
    } else if (strcmp(*word, "--socket-folder") == 0) {
      *word = "--listen-fd";
      word[1] = listen_in(word[1], &o.map);
    } else if (strcmp(*word, "--commands-memory") == 0) {
      *word = "--commands-fd";
      word[1] = open_commands_cgroup(word[1]);
    }
  }
  hide(o.program);
  /* SECURITY: the sandbox's root is nobody on the host, and has power over nothing but the sandbox (G-21) */
  id_map_enter(&o.map, 0, nothing_to_open, NULL);
  /* The engine's network has a loopback interface too, and belongs to the host's root: nobody in the sandbox could give it the address that resolvers look for. */
  if (o.own_network && unshare(CLONE_NEWNET) != 0) complain("Cannot make a network of the sandbox's own: %s", strerror(errno));
  const char *unlimited = namespace_limits_set();
  if (unlimited) complain("Cannot limit %s: %s", unlimited, strerror(errno));
  if (o.map.agent) keep_capabilities();
  o.words[0] = o.program;
  /* Started anew, so that the program's memory belongs to that namespace and not to the host's root. */
  execv(PROGRAM, o.words);
  fail("cannot start the guest program");
}
