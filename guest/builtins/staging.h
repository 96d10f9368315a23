/* A private folder beside what is about to change: what comes in waits there, and what it replaces is kept there. */
#ifndef CLOCHE_STAGING_H
#define CLOCHE_STAGING_H

#include <stddef.h>

#define STAGED_NAME 32

/* Made in this folder, on whose file system the changes will be; gives up when it cannot. */
void staging_open(int parent);
int staging_folder(void);
/* A name in it that is not taken yet. */
void staging_name(size_t number, char name[STAGED_NAME]);
size_t staging_next(void);
/* Removes it with all that is in it, as far as that goes. */
void staging_discard(void);

#endif
