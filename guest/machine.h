#ifndef CLOCHE_MACHINE_H
#define CLOCHE_MACHINE_H

#include <stdbool.h>

/* Makes this a machine of its own: its host name, and a machine id that no other has. False, with errno, when it has no id. */
bool machine_become(const char *hostname);

#endif
