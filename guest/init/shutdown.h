/* The end of the guest program: everything it runs goes first. */
#ifndef CLOCHE_SHUTDOWN_H
#define CLOCHE_SHUTDOWN_H

void shutdown_begin(void);

#endif
