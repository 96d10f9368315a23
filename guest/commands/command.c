#include "commands/command.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/descriptors.h"
#include "builtins/builtin.h"
#include "commands/commands_cgroup.h"
#include "commands/execute.h"
#include "commands/harden.h"
#include "commands/seccomp.h"
#include "commands/shim.h"
#include "init/roots.h"

#define STATUS_FD 3
#define FIRST_ROOT_FD 4
#define FIRST_LAYER_FD (FIRST_ROOT_FD + ROOT_COUNT)

static void fail(const char *what, const char *name) __attribute__((noreturn));
static void fail(const char *what, const char *name) {
  char message[200];
  int error = errno;
  if (name) snprintf(message, sizeof message, "%s \"%.100s\": %s", what, name, strerror(error));
  else snprintf(message, sizeof message, "%s: %s", what, strerror(error));
  shim_send(STATUS_FD, SHIM_FAILED, error, message);
  _exit(127);
}

static void reset_signals(void) {
  struct sigaction normal = {.sa_handler = SIG_DFL};
  for (int number = 1; number < NSIG; number++) (void)sigaction(number, &normal, NULL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
}

static void arrange_descriptors(const struct command *c, int status_fd) {
  int keep[FIRST_LAYER_FD + MAX_LAYERS] = {c->stdio[0], c->stdio[1], c->stdio[2], status_fd};
  size_t count = FIRST_ROOT_FD;
  if (c->builtin) {
    for (int i = 0; i < ROOT_COUNT; i++) keep[count++] = roots[i].fd;
    for (size_t i = 0; i < layer_count; i++) keep[count++] = layer_fds[i];
  }
  if (!descriptors_keep(keep, count, 0)) {
    shim_send(status_fd, SHIM_FAILED, errno, "Cannot arrange descriptors");
    _exit(127);
  }
  for (int fd = 0; fd < 3; fd++) (void)fcntl(fd, F_SETFD, 0);
  for (int i = 0; c->builtin && i < ROOT_COUNT; i++) {
    if (roots[i].fd >= 0) roots[i].fd = FIRST_ROOT_FD + i;
  }
  for (size_t i = 0; c->builtin && i < layer_count; i++) layer_fds[i] = FIRST_LAYER_FD + (int)i;
}

void command_main(const struct command *c, int status_fd) {
  pid_t parent = getppid();
  setsid();
  bool joined = c->builtin || commands_cgroup_join();
  arrange_descriptors(c, status_fd);
  if (!joined) fail("Cannot join the cgroup of commands", NULL);
  if (c->terminal && ioctl(0, TIOCSCTTY, 0) != 0) fail("Cannot take the terminal", NULL);
  reset_signals();
  umask(022);
  harden_prefer_as_victim();
  if (!c->builtin) harden_yield();
  if (!harden_limits(c)) fail("Cannot set limits", NULL);
  harden_drop_bounding();
  if (!harden_become(c->uid, c->gid, c->builtin)) fail("Cannot become the user", NULL);
  /* SECURITY: without capabilities before the first path is touched, so that the user's rights decide (G-06) */
  /* SECURITY: only the copy of the writable layer reads what its owner has closed, and only when the host asks for it as root (G-06) */
  bool reads_closed = c->builtin && c->uid == 0 && builtin_reads_closed(c->argv[0]);
  if (!(reads_closed ? harden_drop_all_but_reading() : harden_drop_all())) fail("Cannot drop capabilities", NULL);
  if (!c->builtin && chdir(c->cwd) != 0) fail("Cannot enter", c->cwd);
  /* SECURITY: where shim and command have one user, killing the shim must not set the command free (G-08) */
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(127);
  /* SECURITY: no_new_privs and the filter are the guest program's own, and inherited; a builtin gets a narrower one on top (G-06) */
  if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1 || prctl(PR_GET_SECCOMP, 0, 0, 0, 0) != SECCOMP_MODE_FILTER) fail("Not hardened", NULL);
  if (c->builtin) {
    if (!seccomp_install(SECCOMP_BUILTIN)) fail("Cannot install the system call filter", NULL);
    close(STATUS_FD);
    _exit(builtin_main(c->argv));
  }
  execute(c->argv, c->env);
  fail("Cannot execute", c->argv[0]);
}
