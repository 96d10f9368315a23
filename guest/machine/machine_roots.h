/* The folders of a sandbox, handed by a machine's first process to the guest program, which may be running already. */
#ifndef CLOCHE_MACHINE_ROOTS_H
#define CLOCHE_MACHINE_ROOTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/bounds.h"

/* Folders in the order of the message: /workspace, its writable layer, its baseline, then the layers between, bottom first. */
#define MACHINE_FOLDERS 3u

/* Sends them, or with a count of 0 only word that the machine is another one now, and waits until they are in use. False with errno. */
bool machine_roots_send(int socket, const int *folders, size_t count);

/* The guest program's side: waits for the first ones, then listens for others. `renewed` is called after each. */
bool machine_roots_receive(int socket, void (*renewed)(void));
bool machine_roots_watch(void);

#endif
