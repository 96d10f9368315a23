/* From a command's pipes or terminal into its rings. */
#ifndef CLOCHE_OUTPUT_H
#define CLOCHE_OUTPUT_H

#include "commands/process.h"

/* Takes over the descriptor; false when it cannot be waited for. */
bool output_open(struct process *p, struct channel *channel, int fd, size_t capacity);
/* Reads again if the ring has room. */
void output_resume(struct process *p, struct channel *channel);
/* The command is gone and its pipes are still held by others: takes what is in them now, then END. */
void output_finish(struct process *p);
/* END at once; what was not read is lost. */
void output_drop(struct process *p);

#endif
