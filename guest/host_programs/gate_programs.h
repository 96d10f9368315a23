/* Programs that a gate's keeper runs for it, as the user that started the daemon: ways to git upstreams that the gate's own user has not. */
#ifndef CLOCHE_GATE_PROGRAMS_H
#define CLOCHE_GATE_PROGRAMS_H

#include <stdbool.h>

/*
 * Starts what the file `run-N` of the gate's folder says. `talk` gets our end of its standard input and output, `said` that of its standard error. False with errno.
 */
bool gate_programs_start(int folder, unsigned number, int *talk, int *said);
/* Forgets those that have ended; to be called when a child has. */
void gate_programs_reap(void);
/* Ends all of them. */
void gate_programs_end(void);

#endif
