/* Pseudo terminals for commands. */
#ifndef CLOCHE_TERMINAL_H
#define CLOCHE_TERMINAL_H

#include <stdbool.h>
#include <stdint.h>

#include "commands/command.h"

/* Opens a pair, sets its size and gives the command's side to its user. False with errno. */
bool terminal_open(const struct command *c, uint16_t cols, uint16_t rows, int *ours, int *theirs);

#endif
