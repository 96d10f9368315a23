/* The last bytes of an output channel, by absolute offset. */
#ifndef CLOCHE_RING_H
#define CLOCHE_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ring {
  uint8_t *data;
  size_t allocated; /* grows up to `capacity` as bytes come */
  size_t capacity;
  uint64_t start; /* the oldest byte that is still there */
  uint64_t end;   /* bytes ever written */
};

/* Writes all of `count` (at most the capacity), pushing out the oldest; false when there is no memory. */
bool ring_write(struct ring *r, const uint8_t *bytes, size_t count);
/* Gives a contiguous piece at `offset` (which must be between start and end); returns its size, at most `limit`. */
size_t ring_peek(const struct ring *r, uint64_t offset, size_t limit, const uint8_t **piece);
void ring_free(struct ring *r);

#endif
