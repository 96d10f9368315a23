#include "init/init.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/bounds.h"
#include "base/complain.h"
#include "base/loop.h"
#include "commands/commands_cgroup.h"
#include "commands/descendants.h"
#include "commands/harden.h"
#include "commands/keeper.h"
#include "commands/lifecycle.h"
#include "commands/process.h"
#include "commands/seccomp.h"
#include "init/loopback.h"
#include "init/mask.h"
#include "init/roots.h"
#include "machine/machine_id.h"
#include "machine/machine_roots.h"
#include "wire/connection.h"
#include "wire/dispatch.h"
#include "wire/listener.h"
#include "wire/serial_port.h"
#include "wire/wire.h"

struct options {
  const char *listen_fd;
  const char *socket;
  bool stdio;
  bool no_keeper;
  const char *workspace;
  const char *upper;
  const char *baseline;
  const char *hostname;
  char *layers[MAX_LAYERS];
  size_t layer_count;
  char *masks[MAX_MASKS];
  size_t mask_count;
  char *ports[MAX_SERIAL_PORTS];
  size_t port_count;
  const char *roots_fd;
  const char *commands_fd;
};

/* False when there is no room for one more. */
static bool take_item(char **list, size_t *count, size_t limit, char *value, const char *what) {
  if (*count == limit) {
    complain("There are more than %zu %s", limit, what);
    return false;
  }
  list[(*count)++] = value;
  return true;
}

static bool parse_options(int argc, char **argv, struct options *o) {
  struct {
    const char *name;
    const char **value;
  } table[] = {{"--listen-fd", &o->listen_fd}, {"--socket", &o->socket},     {"--workspace", &o->workspace},
               {"--upper", &o->upper},         {"--baseline", &o->baseline}, {"--hostname", &o->hostname},
               {"--roots-fd", &o->roots_fd},    {"--commands-fd", &o->commands_fd}};
  for (int i = 1; i < argc; i++) {
    size_t at = 0;
    if (strcmp(argv[i], "--stdio") == 0) {
      o->stdio = true;
      continue;
    }
    if (strcmp(argv[i], "--no-keeper") == 0) {
      o->no_keeper = true;
      continue;
    }
    if (strcmp(argv[i], "--mask") == 0 && i + 1 < argc) {
      if (!take_item(o->masks, &o->mask_count, MAX_MASKS, argv[++i], "masks")) return false;
      continue;
    }
    if (strcmp(argv[i], "--layer") == 0 && i + 1 < argc) {
      if (!take_item(o->layers, &o->layer_count, MAX_LAYERS, argv[++i], "layers")) return false;
      continue;
    }
    if (strcmp(argv[i], "--port-fd") == 0 && i + 1 < argc) {
      if (!take_item(o->ports, &o->port_count, MAX_SERIAL_PORTS, argv[++i], "ports")) return false;
      continue;
    }
    while (at < sizeof table / sizeof *table && strcmp(argv[i], table[at].name) != 0) at++;
    if (at == sizeof table / sizeof *table || i + 1 == argc) {
      complain("Unknown option or missing value: \"%s\"", argv[i]);
      return false;
    }
    *table[at].value = argv[++i];
  }
  if ((o->listen_fd != NULL) + (o->socket != NULL) + o->stdio + (o->port_count > 0) != 1) {
    complain("Give one of --listen-fd, --socket, --stdio and --port-fd");
    return false;
  }
  return true;
}

/* Descriptors 0 to 2 must be taken, or a pipe that gets such a number would be mistaken for stdio. */
static void fill_stdio(void) {
  int fd;
  do {
    fd = open("/dev/null", O_RDWR | O_CLOEXEC);
  } while (fd >= 0 && fd < 3);
  if (fd >= 0) close(fd);
}

static void on_signal(struct watch *w, uint32_t events) {
  (void)events;
  struct signalfd_siginfo info;
  while (read(w->fd, &info, sizeof info) == (ssize_t)sizeof info) continue;
  lifecycle_reap();
}

static struct watch signals = {.fd = -1, .ready = on_signal};

static bool watch_children(void) {
  sigset_t mask;
  sigemptyset(&mask);
  sigaddset(&mask, SIGCHLD);
  sigprocmask(SIG_BLOCK, &mask, NULL);
  signals.fd = signalfd(-1, &mask, SFD_NONBLOCK | SFD_CLOEXEC);
  return loop_watch(&signals, EPOLLIN);
}

static bool has_users; /* found out once: nothing changes it, and a thaw need not wait for it */

static void identify(void) {
  bool layers = roots[ROOT_UPPER].fd >= 0 && roots[ROOT_BASELINE].fd >= 0;
  identity.flags = (uint16_t)((layers ? HELLO_LAYERS : 0) | (has_users ? HELLO_USERS : 0) | HELLO_DOORS);
  if (getrandom(identity.boot_id, sizeof identity.boot_id, 0) < 0) memcpy(identity.boot_id, &(int64_t){clock_us()}, 8);
}

static bool open_stdio(void) {
  int in = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
  int out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (in < 0 || out < 0 || null < 0) return false;
  /* Nothing but the protocol may reach the host by these. */
  (void)dup3(null, STDIN_FILENO, O_CLOEXEC);
  (void)dup3(null, STDOUT_FILENO, O_CLOEXEC);
  close(null);
  return connection_open(in, out, true);
}

static int parse_descriptor(const char *text) {
  char *rest;
  long fd = strtol(text, &rest, 10);
  if (!*rest && rest != text && fd >= 0 && fd <= 65535) return (int)fd;
  complain("Not a descriptor: \"%s\"", text);
  return -1;
}

/* A machine's folders come from its first process, and may be others later. */
static bool open_folders(const struct options *o) {
  if (!roots_open(o->workspace, o->upper, o->baseline, o->layers, o->layer_count)) return false;
  int fd = o->roots_fd ? parse_descriptor(o->roots_fd) : -1;
  return !o->roots_fd || (fd >= 0 && machine_roots_receive(fd, identify));
}

static bool adopt_commands_cgroup(const struct options *o) {
  int fd = o->commands_fd ? parse_descriptor(o->commands_fd) : -1;
  return !o->commands_fd || (fd >= 0 && commands_cgroup_adopt(fd));
}

static bool open_channel(const struct options *o) {
  if (o->stdio) return open_stdio();
  if (o->socket) return listener_bind(o->socket);
  for (size_t i = 0; i < o->port_count; i++) {
    int fd = parse_descriptor(o->ports[i]);
    if (fd < 0 || !serial_port_adopt(fd)) return false;
  }
  if (o->port_count > 0) return true;
  int fd = parse_descriptor(o->listen_fd);
  return fd >= 0 && listener_adopt(fd);
}

static void after_turn(void) {
  processes_settle();
  connections_settle();
}

int init_main(int argc, char **argv) {
  struct options o = {.workspace = "/workspace"};
  if (!parse_options(argc, argv, &o)) return 2;
  fill_stdio();
  prctl(PR_SET_NAME, "cloche-guest");
  prctl(PR_SET_DUMPABLE, 0);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  signal(SIGPIPE, SIG_IGN);
  if (!open_folders(&o) || !adopt_commands_cgroup(&o)) return 1;
  /* Where a user other than root runs the wall, its network belongs to a user namespace above this one, and so do its low ports: one of our own has them for doors. */
  if (!harden_can_change_user()) (void)unshare(CLONE_NEWNET);
  loopback_up();
  /* SECURITY: the kernel is the host's, so what its files tell of the host stays out (G-07) */
  if (!mask_paths(o.masks, o.mask_count)) {
    complain("Cannot mask the kernel's files: %s", strerror(errno));
    return 1;
  }
  /* Where this process may not do it, the wall has done it already. */
  if (o.hostname && sethostname(o.hostname, strlen(o.hostname)) != 0 && errno != EPERM)
    complain("Cannot set the host name: %s", strerror(errno));
  if (o.hostname && !machine_id_renew("")) {
    complain("Cannot write the machine's id: %s", strerror(errno));
    return 1;
  }
  if (chdir("/") != 0) complain("Cannot enter \"/\": %s", strerror(errno));
  has_users = harden_can_change_user();
  if (has_users && !o.no_keeper && !keeper_start()) {
    complain("Cannot start the keeper of commands with secrets: %s", strerror(errno));
    return 1;
  }
  harden_self();
  identify();
  if (!loop_open() || !descendants_open() || !watch_children() || !open_channel(&o) || !machine_roots_watch()) {
    complain("Cannot start: %s", strerror(errno));
    return 1;
  }
  /* SECURITY: what the guest program needed a kernel for is done, so it has the commands' filter from here on. They inherit it, which
   * also spares each of them the installation (G-06, G-08) */
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || !seccomp_install(SECCOMP_COMMAND)) {
    complain("Cannot install the system call filter: %s", strerror(errno));
    return 1;
  }
  int code = loop_run(after_turn);
  /* As PID 1 the kernel ends everything with us; elsewhere nothing may be left behind. */
  if (getpid() != 1) descendants_kill(getpid());
  return code;
}
