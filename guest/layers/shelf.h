/* Files that are made under several names, kept by number until the layer is whole. */
#ifndef CLOCHE_SHELF_H
#define CLOCHE_SHELF_H

#include <stdbool.h>
#include <stdint.h>

/* `top` is the folder of the layer; the shelf is in it until it is cleared. */
void shelf_open(int top);
/* Keeps the file that has that name in `folder`, by the next number. */
void shelf_keep(int folder, const char *name);
/* Gives a kept file another name. Where the file system has no room for more names of one file, it is copied. False when nothing has that number. */
bool shelf_place(uint32_t number, int folder, const char *name);
void shelf_clear(void);

#endif
