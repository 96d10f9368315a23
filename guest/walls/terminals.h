/* The terminals of a sandbox. */
#ifndef CLOCHE_TERMINALS_H
#define CLOCHE_TERMINALS_H

/* Mounts them at a new folder of the launcher's stage, for the wall to bind. */
void terminals_mount(const char *place);

#endif
