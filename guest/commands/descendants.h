/* Finding and signalling everything that descends from a process, by /proc. */
#ifndef CLOCHE_DESCENDANTS_H
#define CLOCHE_DESCENDANTS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

bool descendants_open(void);
/* Sends to every living descendant of `root`, not to itself; returns how many there were. */
size_t descendants_signal(pid_t root, int signal_number);
/* SIGKILL in quick rounds, so that what forks meanwhile is caught too. */
void descendants_kill(pid_t root);
/* True when `pid` is, or cannot be shown not to be, a descendant of this program. */
bool descendants_include(pid_t pid);

#endif
