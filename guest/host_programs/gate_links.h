/* Connections that a gate's keeper makes for it. */
#ifndef CLOCHE_GATE_LINKS_H
#define CLOCHE_GATE_LINKS_H

#include <stdbool.h>

/* A channel of its own for each gate; what was asked on the last one is forgotten. Gives the gate's end; -1 with errno. */
int gate_links_open(int folder);
/* Our end, for poll(); -1 when there is none. */
int gate_links_descriptor(void);
/* Answers what the gate has asked; to be called when there is something to read. */
void gate_links_serve(void);
void gate_links_close(void);

#endif
