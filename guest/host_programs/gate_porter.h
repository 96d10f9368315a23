/* Who takes what connects to a gate's doors, where a guest program can lend them: the connections reach the gate without another program in between. */
#ifndef CLOCHE_GATE_PORTER_H
#define CLOCHE_GATE_PORTER_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Has the porter ask a guest program for a door, over a connection to that guest program, which it takes over. `door` is the port, and above it which link of the gate's this
 * is for: doors of another link are given back. What connects is told to the gate on `channel`. False with errno.
 */
bool gate_porter_lend(int guest, uint32_t door, int channel);
/* Forgets one that has ended; to be called when a child has. */
void gate_porter_reap(void);
void gate_porter_end(void);

#endif
