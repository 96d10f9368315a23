/* What stands between a user's emulator and that user. */
#ifndef CLOCHE_CELL_H
#define CLOCHE_CELL_H

/* Leaves everything of the user behind but open descriptors, the current folder, which can be read only, and what a program needs to run. The
 * program's place, by then; it has to be run next. Fails when it cannot. */
const char *cell_enter(const char *program);

#endif
