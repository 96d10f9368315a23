/*
 * `cloche-guest lodge`: a sandbox in a machine that somebody else has booted, and where we are root but not the first process.
 *
 * The store is a folder on the machine's disk with the baseline, the layers over it and the writable layer of /workspace. They are opened and the socket
 * is made first, in namespaces of the sandbox's own; then folders in memory and the overlay cover what the machine has at those places, and
 * the guest program becomes the first process. This one waits for its end, so that the process that started it sees the end.
 */
#include "machine/lodge.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/bounds.h"
#include "base/launcher.h"
#include "init/init.h"
#include "machine/machine_mounts.h"
#include "walls/stage.h"

#define AGENT 1000
#define WORKSPACE "/workspace"
#define HOME "/home/agent"

struct lodge_options {
  char *store;
  char *socket;
  char *hostname;
  unsigned long long layers;
  unsigned long long memory_bytes;
};

struct lodging {
  int listener, baseline, upper, work;
  int layers[MAX_LAYERS];
  size_t layer_count;
};

static void read_options(char **argv, struct lodge_options *o) {
  struct {
    const char *name;
    char **text;
    unsigned long long *number;
  } table[] = {{"--store", &o->store, NULL},
               {"--socket", &o->socket, NULL},
               {"--hostname", &o->hostname, NULL},
               {"--layers", NULL, &o->layers},
               {"--memory-bytes", NULL, &o->memory_bytes}};
  for (char **at = argv + 1; *at; at += 2) {
    size_t i = 0;
    while (i < sizeof table / sizeof *table && strcmp(*at, table[i].name) != 0) i++;
    if (i == sizeof table / sizeof *table || !at[1]) fail_usage("unknown option or missing value");
    if (table[i].text) *table[i].text = at[1];
    else *table[i].number = strtoull(at[1], NULL, 10);
  }
  if (!o->store || !o->socket || !o->hostname || o->memory_bytes == 0 || o->layers > MAX_LAYERS) fail_usage("missing option");
}

static void make_owned(const char *path, uid_t owner) {
  if (mkdir(path, 0755) != 0) {
    if (errno == EEXIST) return;
    fail("cannot make %s", path);
  }
  if (chmod(path, 0755) != 0 || chown(path, owner, owner) != 0) fail("cannot make %s", path);
}

static void open_store(const struct lodge_options *o, struct lodging *l) {
  char path[32];
  if (chdir(o->store) != 0) fail("cannot enter %s", o->store);
  make_owned("upper", AGENT);
  make_owned("work", 0);
  l->baseline = open_path("baseline");
  l->upper = open_path("upper");
  l->work = open_path("work");
  for (; l->layer_count < o->layers; l->layer_count++) {
    snprintf(path, sizeof path, "layers/%zu", l->layer_count);
    l->layers[l->layer_count] = open_path(path);
  }
}

static void mount_sandbox(const struct lodge_options *o, const struct lodging *l) {
  int lowers[MAX_LAYERS + 1];
  if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0) fail("cannot make mounts private");
  if (mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) != 0) fail("cannot mount /proc");
  for (size_t i = 0; i < l->layer_count; i++) lowers[i] = l->layers[l->layer_count - 1 - i];
  lowers[l->layer_count] = l->baseline;
  overlay_mount(lowers, l->layer_count + 1, l->upper, l->work, "", WORKSPACE);
  mount_memory("/tmp", 01777, o->memory_bytes);
  mount_memory("/run", 0755, o->memory_bytes);
  mount_memory("/dev/shm", 01777, o->memory_bytes);
  protect_kernel_files();
  give_home(HOME);
}

static void run_guest(const struct lodge_options *o, const struct lodging *l) {
  static char *words[2 * MAX_LAYERS + 12];
  static char texts[MAX_LAYERS + 3][32];
  size_t count = 0;
  size_t used = 0;
  const struct {
    char *name;
    int fd;
  } folders[] = {{"--baseline", l->baseline}, {"--upper", l->upper}};
  words[count++] = "init";
  words[count++] = "--hostname";
  words[count++] = o->hostname;
  snprintf(texts[used], sizeof *texts, "%d", l->listener);
  words[count++] = "--listen-fd";
  words[count++] = texts[used++];
  for (size_t i = 0; i < sizeof folders / sizeof *folders; i++, used++) {
    snprintf(texts[used], sizeof *texts, "/proc/self/fd/%d", folders[i].fd);
    words[count++] = folders[i].name;
    words[count++] = texts[used];
  }
  for (size_t i = 0; i < l->layer_count; i++, used++) {
    snprintf(texts[used], sizeof *texts, "/proc/self/fd/%d", l->layers[i]);
    words[count++] = "--layer";
    words[count++] = texts[used];
  }
  _exit(init_main((int)count, words));
}

int lodge_main(int argc, char **argv) {
  (void)argc;
  struct lodge_options o = {0};
  struct lodging l = {0};
  int status;
  read_options(argv, &o);
  umask(0);
  /* SECURITY: no process of the machine is seen from the sandbox, and no network but a loopback of its own (G-03, G-04) */
  if (unshare(CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS) != 0) fail("cannot make namespaces");
  /* An overlay takes folders of its own mount namespace only. */
  open_store(&o, &l);
  l.listener = listen_privately(o.socket);
  pid_t pid = fork();
  if (pid < 0) fail("cannot fork");
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    mount_sandbox(&o, &l);
    run_guest(&o, &l);
  }
  close(l.listener);
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
