/* What stands between an emulator and the host. */
#ifndef CLOCHE_CELL_H
#define CLOCHE_CELL_H

#include <stdbool.h>

/* Leaves everything behind but open descriptors, the current folder, which can be read only, and what a program needs to run. A user needs a
 * user namespace for that. The program's place, by then. Fails when it cannot. */
const char *cell_enter(const char *program, bool as_user);

/* Last, when all other rights are given up: the program has to be run next. */
void cell_close(void);

#endif
