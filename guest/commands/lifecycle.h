/* How a process ends: its exit, its time-out, signals, FORGET. */
#ifndef CLOCHE_LIFECYCLE_H
#define CLOCHE_LIFECYCLE_H

#include "commands/process.h"

/* Starts to listen to the shim; takes over the read end of its pipe. */
bool lifecycle_start(struct process *p, int status_fd, uint32_t timeout_ms);
/* What was forked for it: a shim, which will tell of its command, or a builtin. */
void lifecycle_forked(struct process *p, pid_t pid);
/* Ends a process that never came to be. */
void lifecycle_fail(struct process *p, int error, const char *message);
/* Reaps every child that ended. */
void lifecycle_reap(void);

void process_signal(struct process *p, int signal_number, int scope);
void process_resize(struct process *p, uint16_t cols, uint16_t rows);
void process_forget(struct process *p);
/* A connection that followed it is gone; a builtin that nobody else follows ends. */
void process_abandoned(struct process *p);

#endif
