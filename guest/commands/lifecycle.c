#include "commands/lifecycle.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/bounds.h"
#include "commands/descendants.h"
#include "commands/input.h"
#include "commands/output.h"
#include "commands/shim.h"
#include "wire/attach.h"
#include "wire/wire.h"

/* The command is over, and so is everything that had to end with it. */
static void finish(struct process *p) {
  if (p->exited) return;
  p->exited = true;
  p->known = true;
  timer_clear(&p->timer);
  input_close(p);
  if (p->output[0].open || p->output[1].open) timer_set(&p->linger, LINGER_MS);
  attach_deliver_all(p);
}

static void on_linger(struct timer *t) { output_finish(t->owner); }

static void set_result(struct process *p, uint8_t kind, int32_t code) {
  if (p->reaped) return;
  p->reaped = true;
  p->ran_us = clock_us() - p->started_us;
  if (p->kind == EXIT_NOT_STARTED) return;
  p->kind = kind;
  p->code = code;
}

static void take_status(struct process *p, int status) {
  if (WIFSIGNALED(status)) set_result(p, EXIT_SIGNAL, WTERMSIG(status));
  else set_result(p, EXIT_CODE, WEXITSTATUS(status));
}

static void take_report(struct process *p, const struct shim_report *report) {
  switch (report->kind) {
    case SHIM_STARTED:
      /* Comes after the command's program runs, or after it could not: then there is no pid to tell. */
      if (p->kind != EXIT_NOT_STARTED) p->pid = report->value;
      p->known = true;
      if (p->early_signal) process_signal(p, p->early_signal, p->early_scope);
      attach_deliver_all(p);
      break;
    case SHIM_FAILED:
      p->kind = EXIT_NOT_STARTED;
      p->code = report->value;
      snprintf(p->message, sizeof p->message, "%.*s", (int)sizeof report->message - 1, report->message);
      break;
    default:
      take_status(p, report->value);
      /* What had to be ended as a whole is over when all of it is. */
      if (p->ending == ENDING_NO) finish(p);
  }
}

static void read_reports(struct process *p) {
  struct shim_report report;
  while (p->status.fd >= 0) {
    ssize_t count = read(p->status.fd, &report, sizeof report);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) return;
    if (count == (ssize_t)sizeof report) take_report(p, &report);
    else loop_close(&p->status);
  }
}

static void on_status(struct watch *w, uint32_t events) {
  (void)events;
  read_reports(w->owner);
}

static void forked_gone(struct process *p, int status) {
  read_reports(p);
  p->shim = 0;
  /* A shim ends after it has told of its command, so one that has not was killed. */
  if (p->flags & SPAWN_BUILTIN) take_status(p, status);
  else if (!p->reaped) set_result(p, EXIT_SIGNAL, WIFSIGNALED(status) ? WTERMSIG(status) : SIGKILL);
  finish(p);
}

void lifecycle_reap(void) {
  int status;
  for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
    struct process *p = process_find_shim(pid);
    if (p) forked_gone(p, status);
  }
}

/* To everything that runs for it. */
static void signal_all(const struct process *p, int signal_number) {
  if (p->flags & SPAWN_BUILTIN) kill(p->shim, signal_number);
  else if (signal_number == SIGKILL) descendants_kill(p->shim);
  else descendants_signal(p->shim, signal_number);
}

static void kill_round(struct process *p) {
  if (p->shim == 0) return;
  signal_all(p, SIGKILL);
  if (++p->kill_rounds >= KILL_ROUNDS) {
    p->given_up = true;
    set_result(p, EXIT_SIGNAL, SIGKILL);
    finish(p);
    return;
  }
  timer_set(&p->timer, KILL_ROUND_MS);
}

static void kill_all(struct process *p) {
  /* A new order after it was given up on is a new try. */
  if ((p->ending == ENDING_KILL && !p->given_up) || p->shim == 0) return;
  p->ending = ENDING_KILL;
  p->given_up = false;
  p->kill_rounds = 0;
  kill_round(p);
}

static void on_timer(struct timer *t) {
  struct process *p = t->owner;
  switch (p->ending) {
    case ENDING_NO:
      p->exit_flags |= EXIT_TIMED_OUT;
      p->ending = ENDING_TERM;
      signal_all(p, SIGTERM);
      /* A stopped process could not answer the TERM. */
      signal_all(p, SIGCONT);
      timer_set(&p->timer, p->grace_ms);
      break;
    case ENDING_TERM:
      kill_all(p);
      break;
    default:
      kill_round(p);
  }
}

bool lifecycle_start(struct process *p, int status_fd, uint32_t timeout_ms) {
  p->status = (struct watch){.fd = status_fd, .ready = on_status, .owner = p};
  p->timer = (struct timer){.fire = on_timer, .owner = p};
  p->linger = (struct timer){.fire = on_linger, .owner = p};
  p->started_us = clock_us();
  if (timeout_ms > 0) timer_set(&p->timer, timeout_ms);
  return loop_watch(&p->status, EPOLLIN);
}

void lifecycle_forked(struct process *p, pid_t pid) {
  p->shim = pid;
  if (!(p->flags & SPAWN_BUILTIN)) return;
  p->pid = pid;
  p->known = true;
}

void lifecycle_fail(struct process *p, int error, const char *message) {
  p->kind = EXIT_NOT_STARTED;
  p->code = error;
  p->reaped = true;
  snprintf(p->message, sizeof p->message, "%s", message);
  output_drop(p);
  finish(p);
}

void process_signal(struct process *p, int signal_number, int scope) {
  if (p->shim == 0) return;
  if (!p->known) {
    /* There is nobody yet who could get it; of several the first SIGKILL or the last one counts. */
    if (p->early_signal == SIGKILL) return;
    p->early_signal = signal_number;
    p->early_scope = scope;
  } else if (scope == SCOPE_DESCENDANTS && signal_number == SIGKILL) {
    kill_all(p);
  } else if (scope == SCOPE_DESCENDANTS) {
    signal_all(p, signal_number);
  } else if (p->pid > 0 && !p->reaped) {
    /* Once the command was reaped its number may be somebody else's. Before its setsid it has no group yet. */
    if (kill(-p->pid, signal_number) != 0 && errno == ESRCH) kill(p->pid, signal_number);
  }
}

void process_resize(struct process *p, uint16_t cols, uint16_t rows) {
  struct winsize size = {.ws_col = cols, .ws_row = rows};
  if (p->flags & SPAWN_PTY && p->output[0].watch.fd >= 0) (void)ioctl(p->output[0].watch.fd, TIOCSWINSZ, &size);
}

/* File work undoes what it has begun, or finishes it: killed in the middle it would leave half of a tree behind. */
static void end_file_work(struct process *p) {
  process_signal(p, SIGTERM, SCOPE_DESCENDANTS);
  /* A stopped process could not answer the TERM. */
  process_signal(p, SIGCONT, SCOPE_DESCENDANTS);
}

void process_forget(struct process *p) {
  p->forgotten = true;
  /* Nothing is sent to what a command that ended by itself left behind. */
  if (!p->exited && p->flags & SPAWN_BUILTIN) end_file_work(p);
  else if (!p->exited) kill_all(p);
  output_drop(p);
}

void process_abandoned(struct process *p) {
  if (!(p->flags & SPAWN_BUILTIN) || p->flags & SPAWN_KEEP || p->exited) return;
  for (struct stream *s = p->attached; s; s = s->next_attached) {
    if (s->kind == STREAM_PROCESS) return;
  }
  end_file_work(p);
}
