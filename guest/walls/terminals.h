/* The terminals of a sandbox. */
#ifndef CLOCHE_TERMINALS_H
#define CLOCHE_TERMINALS_H

/* Mounts them on the launcher's stage, for the wall to bind. */
void terminals_mount(void);

#endif
