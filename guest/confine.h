/* Leaves a process, and all that it becomes, nothing but the files it is given (Landlock). Where the kernel cannot do that, nothing changes. */
#ifndef CLOCHE_CONFINE_H
#define CLOCHE_CONFINE_H

#include <stdbool.h>

void confine_prepare(void);
/* The open file may be opened again, by its name. */
void confine_allow_file(int fd, bool writable);
/* All that is below the folder may be read and run; one that is not there is left out. */
void confine_allow_folder(const char *path);
/* The device may be used. */
void confine_allow_device(const char *path);
/* From here on: no other file, no TCP connection, no abstract socket, no signal to and no tracing of a process outside. Needs no_new_privs. */
void confine(void);

#endif
