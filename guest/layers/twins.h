/* Files that have several names, by the first of them. */
#ifndef CLOCHE_TWINS_H
#define CLOCHE_TWINS_H

#include <stdint.h>
#include <sys/stat.h>

/* The number of a file that was remembered and is still the same; 0 when there is none. */
uint32_t twin_of(const struct stat *st);
/* Numbers count from 1. */
uint32_t twin_remember(const struct stat *st);

#endif
