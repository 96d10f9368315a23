/*
 * `cloche-guest wall`: what has to happen between the daemon and the wall (bubblewrap or an OCI runtime).
 *
 * It runs with the rights of the user who runs cloche and executes nothing that a sandbox controls. In this order:
 * record the pid, listen for the guest program, join the cgroups, enter a new user and mount namespace, mount the
 * overlays on a private tmpfs, and become the program after `--`. All mounts live in that mount namespace, so they end
 * with the sandbox, whatever kills it; the host never sees them and has nothing to unmount.
 *
 * Layers are opened before the process takes its shifted user id, and mounted through /proc/self/fd: the folders of the
 * user stay closed (0700) to the ids of the sandbox, and mountinfo in the sandbox names no path of the host.
 */
#define _GNU_SOURCE
#include "wall.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define STATUS_FD 3       /* pipe from the daemon: "B" once the socket is bound, "E message" on failure */
#define LISTEN_FD 3       /* where the wall finds the listening socket, after the status pipe has moved away */
#define SOCKET_NAME "guest.sock"
#define STAGE "/run"      /* covered by a tmpfs in our own mount namespace */
#define MAX_CGROUPS 8

struct wall_options {
  const char *directory;
  const char *root;
  const char *baseline;
  const char *guest;
  const char *bundle; /* folder with an OCI runtime's config.json, or NULL */
  const char *door;   /* folder where a guest that cannot inherit a socket makes one, or NULL */
  const char *cgroups[MAX_CGROUPS];
  size_t cgroup_count;
  unsigned long shift_base;
  unsigned long shift_count; /* 0: no shifted map */
  int single;                /* map the caller's own id as root */
  char **program;
};

static int status_fd = -1;

static void fail(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

static void fail(const char *format, ...)
{
  char message[512];
  int saved = errno;
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  if (length < 0)
    length = 0;
  if ((size_t)length >= sizeof message)
    length = (int)sizeof message - 1;
  if (status_fd >= 0)
    dprintf(status_fd, "E%s: %s", message, strerror(saved));
  dprintf(STDERR_FILENO, "%s: %s\n", message, strerror(saved)); /* the wall's log */
  _exit(125);
}

static void read_options(int argc, char **argv, struct wall_options *options)
{
  for (int at = 1; at < argc; at++) {
    const char *name = argv[at];
    if (strcmp(name, "--") == 0) {
      options->program = argv + at + 1;
      break;
    }
    if (strcmp(name, "--single") == 0) {
      options->single = 1;
      continue;
    }
    if (at + 1 >= argc)
      break;
    char *value = argv[++at];
    if (strcmp(name, "--directory") == 0)
      options->directory = value;
    else if (strcmp(name, "--root") == 0)
      options->root = value;
    else if (strcmp(name, "--baseline") == 0)
      options->baseline = value;
    else if (strcmp(name, "--guest") == 0)
      options->guest = value;
    else if (strcmp(name, "--bundle") == 0)
      options->bundle = value;
    else if (strcmp(name, "--door") == 0)
      options->door = value;
    else if (strcmp(name, "--cgroup") == 0 && options->cgroup_count < MAX_CGROUPS)
      options->cgroups[options->cgroup_count++] = value;
    else if (strcmp(name, "--shift-base") == 0)
      options->shift_base = strtoul(value, NULL, 10);
    else if (strcmp(name, "--shift-count") == 0)
      options->shift_count = strtoul(value, NULL, 10);
    else {
      errno = EINVAL;
      fail("unknown option %s", name);
    }
  }
  if (!options->directory || !options->root || !options->baseline || !options->guest || !options->program || !options->program[0]) {
    errno = EINVAL;
    fail("missing option");
  }
}

static void write_text(const char *path, const char *text)
{
  int file = open(path, O_WRONLY | O_CLOEXEC);
  if (file < 0)
    fail("cannot open %s", path);
  if (write(file, text, strlen(text)) < 0)
    fail("cannot write %s", path);
  close(file);
}

/* "PID START": the start time tells this process from a later one with the same pid. */
static void record_pid(void)
{
  char stat_text[1024];
  int stat_file = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
  ssize_t length = stat_file < 0 ? -1 : read(stat_file, stat_text, sizeof stat_text - 1);
  if (length <= 0)
    fail("cannot read /proc/self/stat");
  close(stat_file);
  stat_text[length] = '\0';
  char *field = strrchr(stat_text, ')');
  for (int number = 2; field && number < 22; number++) {
    field = strchr(field + 1, ' ');
  }
  if (!field)
    fail("cannot parse /proc/self/stat");
  char line[64];
  snprintf(line, sizeof line, "%d %llu\n", (int)getpid(), strtoull(field + 1, NULL, 10));
  int file = open("wall.pid.tmp", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0 || write(file, line, strlen(line)) < 0 || close(file) < 0 || rename("wall.pid.tmp", "wall.pid") < 0)
    fail("cannot write wall.pid");
}

/* SECURITY: the host makes the socket and the guest only inherits it, so no path that the daemon opens is ever made or
 * replaced by a guest (G-02). */
static int listen_for_guest(void)
{
  struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = SOCKET_NAME};
  int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (listener < 0)
    fail("cannot make a socket");
  if (unlink(SOCKET_NAME) < 0 && errno != ENOENT)
    fail("cannot remove the old socket");
  mode_t mask = umask(0177);
  if (bind(listener, (struct sockaddr *)&address, sizeof address) < 0 || listen(listener, 64) < 0)
    fail("cannot listen on %s", SOCKET_NAME);
  umask(mask);
  return listener;
}

/* Waits in the old user namespace until the caller has entered the new one, then writes its maps. */
static pid_t start_mapper(const struct wall_options *options, int go_ahead)
{
  pid_t target = getpid();
  uid_t uid = geteuid();
  gid_t gid = getegid();
  pid_t mapper = fork();
  if (mapper < 0)
    fail("cannot fork");
  if (mapper > 0)
    return mapper;
  char byte, path[64], map[64];
  if (read(go_ahead, &byte, 1) != 1)
    _exit(1);
  if (options->single) {
    snprintf(path, sizeof path, "/proc/%d/setgroups", (int)target);
    write_text(path, "deny");
  }
  snprintf(path, sizeof path, "/proc/%d/uid_map", (int)target);
  if (options->single)
    snprintf(map, sizeof map, "0 %u 1\n", uid);
  else
    snprintf(map, sizeof map, "0 %lu %lu\n", options->shift_base, options->shift_count);
  write_text(path, map);
  snprintf(path, sizeof path, "/proc/%d/gid_map", (int)target);
  if (options->single)
    snprintf(map, sizeof map, "0 %u 1\n", gid);
  write_text(path, map);
  _exit(0);
}

struct layer_fds {
  int root, root_upper, root_work, baseline, upper, work, guest, bundle, door;
};

static int open_layer(const char *path)
{
  if (!path)
    return -1;
  int layer = open(path, O_PATH | O_CLOEXEC);
  if (layer < 0)
    fail("cannot open %s", path);
  return layer;
}

/* In the new mount namespace but still as the old user, who alone may pass the folders above. */
static struct layer_fds open_layers(const struct wall_options *options)
{
  return (struct layer_fds){
    .root = open_layer(options->root),
    .root_upper = open_layer("root/upper"),
    .root_work = open_layer("root/work"),
    .baseline = open_layer(options->baseline),
    .upper = open_layer("workspace/upper"),
    .work = open_layer("workspace/work"),
    .guest = open_layer(options->guest),
    .bundle = open_layer(options->bundle),
    .door = open_layer(options->door),
  };
}

static void enter_namespaces(const struct wall_options *options, struct layer_fds *layers)
{
  int mapped = options->single || options->shift_count > 0;
  int go_ahead[2] = {-1, -1};
  pid_t mapper = -1;
  if (mapped) {
    if (pipe2(go_ahead, O_CLOEXEC) < 0)
      fail("cannot make a pipe");
    mapper = start_mapper(options, go_ahead[0]);
  }
  if (unshare(CLONE_NEWNS | (mapped ? CLONE_NEWUSER : 0)) < 0)
    fail("cannot make a %snamespace", mapped ? "user " : "mount ");
  *layers = open_layers(options);
  if (!mapped)
    return;
  int result;
  if (write(go_ahead[1], "x", 1) != 1 || waitpid(mapper, &result, 0) < 0)
    fail("cannot map user ids");
  if (!WIFEXITED(result) || WEXITSTATUS(result) != 0) {
    errno = EPERM;
    fail("cannot map user ids");
  }
  close(go_ahead[0]);
  close(go_ahead[1]);
  if (!options->single && setgroups(0, NULL) < 0)
    fail("cannot drop groups");
  if (setresgid(0, 0, 0) < 0 || setresuid(0, 0, 0) < 0)
    fail("cannot take the mapped ids");
}

static void make_folder(const char *path)
{
  if (mkdir(path, 0755) < 0)
    fail("cannot make %s", path);
}

static void mount_overlay(int lower, int upper, int work, const char *target)
{
  char options[192];
  make_folder(target);
  snprintf(options, sizeof options, "lowerdir=/proc/self/fd/%d,upperdir=/proc/self/fd/%d,workdir=/proc/self/fd/%d,userxattr", lower, upper, work);
  if (mount("overlay", target, "overlay", MS_NOSUID | MS_NODEV, options) < 0)
    fail("cannot mount an overlay");
}

static void bind_layer(int layer, const char *target)
{
  char source[64];
  if (layer < 0)
    return;
  snprintf(source, sizeof source, "/proc/self/fd/%d", layer);
  if (mount(source, target, NULL, MS_BIND, NULL) < 0)
    fail("cannot bind %s", target);
}

static void bind_folder(int layer, const char *target)
{
  make_folder(target);
  bind_layer(layer, target);
}

static void stage(const struct layer_fds *layers)
{
  if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
    fail("cannot make mounts private");
  if (mount("cloche", STAGE, "tmpfs", MS_NOSUID | MS_NODEV, "mode=755,size=1m") < 0)
    fail("cannot mount the stage");
  mount_overlay(layers->root, layers->root_upper, layers->root_work, STAGE "/root");
  mount_overlay(layers->baseline, layers->upper, layers->work, STAGE "/workspace");
  bind_folder(layers->baseline, STAGE "/baseline");
  bind_folder(layers->upper, STAGE "/upper");
  bind_folder(layers->bundle, STAGE "/bundle");
  bind_folder(layers->door, STAGE "/door");
  int file = open(STAGE "/guest", O_WRONLY | O_CREAT | O_CLOEXEC, 0755);
  if (file < 0)
    fail("cannot make %s", STAGE "/guest");
  close(file);
  bind_layer(layers->guest, STAGE "/guest");
}

int wall_main(int argc, char **argv)
{
  struct wall_options options = {0};
  struct layer_fds layers;
  status_fd = fcntl(STATUS_FD, F_DUPFD_CLOEXEC, 10);
  if (status_fd >= 0)
    close(STATUS_FD);
  read_options(argc, argv, &options);
  if (chdir(options.directory) < 0)
    fail("cannot enter %s", options.directory);
  record_pid();
  int listener = listen_for_guest();
  for (size_t at = 0; at < options.cgroup_count; at++)
    write_text(options.cgroups[at], "0");
  if (status_fd >= 0 && write(status_fd, "B", 1) != 1)
    fail("cannot report");
  enter_namespaces(&options, &layers);
  stage(&layers);
  /* Copied even when it is that number already: only a copy is without close-on-exec. */
  int passed = fcntl(listener, F_DUPFD, LISTEN_FD + 1);
  if (passed < 0 || dup2(passed, LISTEN_FD) < 0 || close(passed) < 0 || chdir("/") < 0)
    fail("cannot pass the socket on");
  execvp(options.program[0], options.program);
  fail("cannot run %s", options.program[0]);
}
