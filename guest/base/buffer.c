#include "base/buffer.h"

#include <stdlib.h>
#include <string.h>

#define KEEP_BYTES (128u * 1024u)

bool buffer_reserve(struct buffer *b, size_t more) {
  if (b->capacity - b->end >= more) return true;
  size_t size = buffer_size(b);
  if (b->start > 0) {
    memmove(b->data, b->data + b->start, size);
    b->start = 0;
    b->end = size;
    if (b->capacity - b->end >= more) return true;
  }
  size_t wanted = b->capacity < 4096 ? 4096 : b->capacity;
  while (wanted - size < more) {
    if (wanted > SIZE_MAX / 2) return false;
    wanted *= 2;
  }
  uint8_t *data = realloc(b->data, wanted);
  if (!data) return false;
  b->data = data;
  b->capacity = wanted;
  return true;
}

bool buffer_append(struct buffer *b, const void *bytes, size_t count) {
  if (count == 0) return true;
  if (!buffer_reserve(b, count)) return false;
  memcpy(b->data + b->end, bytes, count);
  b->end += count;
  return true;
}

void buffer_consume(struct buffer *b, size_t count) {
  b->start += count;
  if (b->start < b->end) return;
  b->start = b->end = 0;
  if (b->capacity > KEEP_BYTES) buffer_free(b);
}

void buffer_free(struct buffer *b) {
  free(b->data);
  *b = (struct buffer){0};
}
