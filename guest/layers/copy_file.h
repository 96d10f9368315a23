/* One file of a layer with what belongs to it. */
#ifndef CLOCHE_COPY_FILE_H
#define CLOCHE_COPY_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

/* Copies the content, leaving holes, and tells the bytes; tries again when the file changed meanwhile, a few times. Sets `st` to
 * what it is now. False with errno. */
bool copy_content(int from, int to, struct stat *st, uint64_t *bytes);
#define ATTRIBUTE_BYTES 65536 /* the kernel's most for a list and for a value */

/* Whether an extended attribute goes with a copy: those of the overlay that tell of other layers, or of this one's place among them, mean
 * nothing there. */
bool attribute_is_kept(const char *name);
/* The user's extended attributes and those of the overlay that a lower layer needs. False with errno. */
bool copy_attributes(int from, int to);
/* Owner, mode and time. False with errno. */
bool copy_metadata(int to, const struct stat *st);

#endif
