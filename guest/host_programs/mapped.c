/*
 * `cloche-guest mapped MAP --in FOLDER -- PROGRAM …`: a program that sees the files of a sandbox as the sandbox does. It is the sandbox's root, who owns
 * nothing else on the host, and starts in that folder, which it need not be able to reach by its path: it has it at another one, in a mount namespace of its
 * own, because programs ask where they are.
 */
#include "host_programs/mapped.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/launcher.h"
#include "walls/idmap.h"

#define STAGE "/run" /* covered by a tmpfs in our own mount namespace */
#define PLACE STAGE "/folder"

struct mapped_options {
  struct id_map map;
  const char *folder;
  int folder_fd;
  char **program;
};

static void open_folder(void *argument) {
  struct mapped_options *o = argument;
  o->folder_fd = open_path(o->folder);
}

static void enter_folder(const struct mapped_options *o) {
  char source[64];
  snprintf(source, sizeof source, "/proc/self/fd/%d", o->folder_fd);
  if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0) fail("cannot make mounts private");
  if (mount("cloche", STAGE, "tmpfs", MS_NOSUID | MS_NODEV, "mode=755,size=64k") != 0) fail("cannot mount the stage");
  if (mkdir(PLACE, 0755) != 0 || mount(source, PLACE, NULL, MS_BIND, NULL) != 0 || chdir(PLACE) != 0)
    fail("cannot enter %s", o->folder);
}

int mapped_main(int argc, char **argv) {
  struct mapped_options o = {0};
  (void)argc;
  for (char **at = argv + 1; *at && !o.program;) {
    int taken = id_map_option(&o.map, at);
    if (strcmp(*at, "--") == 0) {
      o.program = at + 1;
      taken = 1;
    } else if (taken == 0 && at[1] && strcmp(*at, "--in") == 0) {
      o.folder = at[1];
      taken = 2;
    }
    if (taken == 0) fail_usage("unknown option");
    at += taken;
  }
  if (!o.folder || !o.program || !o.program[0]) fail_usage("missing option");
  /* SECURITY: what reads a sandbox's files has no rights but the sandbox's (G-01) */
  id_map_enter(&o.map, CLONE_NEWNS, open_folder, &o);
  enter_folder(&o);
  execvp(o.program[0], o.program);
  fail("cannot run %s", o.program[0]);
}
