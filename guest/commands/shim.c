#include "commands/shim.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/code_pages.h"
#include "base/descriptors.h"
#include "commands/harden.h"

/* Room for the longest path that is tried, and for messages. */
#define COMMAND_STACK (256 * 1024)
#define REST_SECONDS 1 /* a command that runs longer may do so for hours: its shim takes less memory then */

void shim_send(int fd, enum shim_report_kind kind, int32_t value, const char *message) {
  struct shim_report report = {.kind = kind, .value = value};
  snprintf(report.message, sizeof report.message, "%s", message);
  /* When the guest program is gone there is nobody to tell. */
  if (write(fd, &report, sizeof report) < 0) return;
}

/* Until a child ends, and not for long. The signal is blocked, so one that has come already is there. */
static void rest(void) {
  sigset_t child;
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
  if (sigtimedwait(&child, NULL, &(struct timespec){.tv_sec = REST_SECONDS}) < 0) code_pages_release();
}

static void reap_until_alone(pid_t command, int status_fd) {
  for (;;) {
    int status;
    pid_t pid = waitpid(-1, &status, 0);
    if (pid == command) shim_send(status_fd, SHIM_EXITED, status, "");
    if (pid < 0 && errno != EINTR) return;
  }
}

struct start {
  const struct command *command;
  int status_fd;
};

static int run_command(void *argument) {
  const struct start *start = argument;
  command_main(start->command, start->status_fd);
}

/*
 * The command borrows the shim's memory until it executes, and the shim waits for that: to copy page tables that nobody will read costs a tenth of
 * the whole way of a short command. It has a stack of its own, and what it changes in memory the shim does not look at.
 */
static pid_t fork_command(const struct command *command, int status_fd) {
  static _Alignas(16) char stack[COMMAND_STACK];
  struct start start = {.command = command, .status_fd = status_fd};
  return clone(run_command, stack + sizeof stack, CLONE_VM | CLONE_VFORK | SIGCHLD, &start);
}

void shim_main(const struct command *command, int status_fd, pid_t parent) {
  prctl(PR_SET_NAME, "cloche-shim");
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
  /* SECURITY: a subreaper keeps daemons of the command below us, where a time-out finds them (G-15) */
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  prctl(PR_SET_DUMPABLE, 0);
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, NULL);

  pid_t pid = fork_command(command, status_fd);
  if (pid < 0) {
    shim_send(status_fd, SHIM_FAILED, errno, "Cannot fork");
    _exit(0);
  }
  shim_send(status_fd, SHIM_STARTED, pid, "");
  int keep[] = {status_fd};
  descriptors_keep(keep, 1, 0);
  /* SECURITY: the shim needs nothing more, so that a bug in it is worth nothing (G-08) */
  harden_drop_all();
  rest();
  reap_until_alone(pid, 0);
  _exit(0);
}

pid_t shim_fork(const struct command *command, int status_fd) {
  pid_t parent = getpid();
  pid_t pid = fork();
  if (pid == 0) shim_main(command, status_fd, parent);
  return pid;
}

pid_t builtin_fork(const struct command *command, int status_fd) {
  pid_t pid = fork();
  if (pid == 0) command_main(command, status_fd);
  return pid;
}
