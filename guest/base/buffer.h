/* A growing queue of bytes: appended at the end, consumed from the start. */
#ifndef CLOCHE_BUFFER_H
#define CLOCHE_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buffer {
  uint8_t *data;
  size_t start;
  size_t end;
  size_t capacity;
};

static inline size_t buffer_size(const struct buffer *b) { return b->end - b->start; }
static inline uint8_t *buffer_bytes(struct buffer *b) { return b->data + b->start; }

/* Makes room for `more` bytes behind the end; false when there is no memory. */
bool buffer_reserve(struct buffer *b, size_t more);
bool buffer_append(struct buffer *b, const void *bytes, size_t count);
/* Gives memory back when the buffer gets empty after it was large. */
void buffer_consume(struct buffer *b, size_t count);
void buffer_free(struct buffer *b);

#endif
