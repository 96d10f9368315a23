/* The one interface of a sandbox's network. */
#ifndef CLOCHE_LOOPBACK_H
#define CLOCHE_LOOPBACK_H

/* Brings it up, with a second address. Nothing is done twice, so whoever comes second does not wait. */
void loopback_up(void);

#endif
