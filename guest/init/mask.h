#ifndef CLOCHE_MASK_H
#define CLOCHE_MASK_H

#include <stdbool.h>
#include <stddef.h>

#define MAX_MASKS 64

/* Covers files and folders, those that are there, with nothing. False, with errno, when one stays open. */
bool mask_paths(char *const *paths, size_t count);

#endif
