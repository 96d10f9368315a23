/* From the host into a command's stdin or terminal. */
#ifndef CLOCHE_INPUT_H
#define CLOCHE_INPUT_H

#include <stddef.h>

#include "commands/process.h"

/* Takes over the descriptor. */
void input_open(struct process *p, int fd);
void input_data(struct stream *s, const uint8_t *bytes, size_t count);
void input_end(struct process *p);
void input_close(struct process *p);
/* Allows a stream to send as much as there is room for. */
void input_grant(struct stream *s);

#endif
