#include "base/ring.h"

#include <stdlib.h>
#include <string.h>

static bool grow(struct ring *r, size_t needed) {
  size_t size = r->allocated ? r->allocated : 4096;
  while (size < needed) size *= 2;
  if (size > r->capacity) size = r->capacity;
  uint8_t *data = malloc(size);
  if (!data) return false;
  /* Positions depend on the size, so every byte moves to its new place. */
  for (uint64_t at = r->start; at < r->end;) {
    const uint8_t *piece;
    size_t count = ring_peek(r, at, size - (size_t)(at % size), &piece);
    memcpy(data + at % size, piece, count);
    at += count;
  }
  free(r->data);
  r->data = data;
  r->allocated = size;
  return true;
}

bool ring_write(struct ring *r, const uint8_t *bytes, size_t count) {
  size_t held = (size_t)(r->end - r->start);
  size_t needed = held + count > r->capacity ? r->capacity : held + count;
  if (needed > r->allocated && !grow(r, needed)) return false;
  while (count > 0) {
    size_t at = (size_t)(r->end % r->allocated);
    size_t piece = r->allocated - at < count ? r->allocated - at : count;
    memcpy(r->data + at, bytes, piece);
    bytes += piece;
    count -= piece;
    r->end += piece;
    if (r->end - r->start > r->allocated) r->start = r->end - r->allocated;
  }
  return true;
}

size_t ring_peek(const struct ring *r, uint64_t offset, size_t limit, const uint8_t **piece) {
  size_t at = (size_t)(offset % r->allocated);
  size_t count = r->allocated - at;
  if (count > r->end - offset) count = (size_t)(r->end - offset);
  *piece = r->data + at;
  return count < limit ? count : limit;
}

void ring_free(struct ring *r) {
  free(r->data);
  r->data = NULL;
  r->allocated = 0;
  r->start = r->end;
}
