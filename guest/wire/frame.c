#include "wire/frame.h"

#include <stdlib.h>
#include <string.h>

static const uint8_t *take(struct reader *r, size_t count) {
  if (r->bad || r->left < count) {
    r->bad = true;
    return NULL;
  }
  const uint8_t *at = r->at;
  r->at += count;
  r->left -= count;
  return at;
}

static uint64_t read_number(struct reader *r, size_t bytes) {
  const uint8_t *at = take(r, bytes);
  uint64_t value = 0;
  for (size_t i = bytes; at && i > 0; i--) value = value << 8 | at[i - 1];
  return value;
}

uint8_t read_u8(struct reader *r) { return (uint8_t)read_number(r, 1); }
uint16_t read_u16(struct reader *r) { return (uint16_t)read_number(r, 2); }
uint32_t read_u32(struct reader *r) { return (uint32_t)read_number(r, 4); }
uint64_t read_u64(struct reader *r) { return read_number(r, 8); }

char *read_string(struct reader *r, size_t limit) {
  uint32_t length = read_u32(r);
  const uint8_t *bytes = length > limit ? NULL : take(r, length);
  if (!bytes || memchr(bytes, 0, length)) {
    r->bad = true;
    return NULL;
  }
  uint8_t *place = r->at - length - 4;
  memmove(place, bytes, length);
  place[length] = 0;
  return (char *)place;
}

char **read_strings(struct reader *r, size_t limit) {
  uint32_t count = read_u32(r);
  if (r->bad || count > limit || count > r->left / 4) {
    r->bad = true;
    return NULL;
  }
  char **list = calloc((size_t)count + 1, sizeof *list);
  if (!list) {
    r->bad = true;
    return NULL;
  }
  for (uint32_t i = 0; i < count; i++) list[i] = read_string(r, SIZE_MAX);
  if (r->bad) {
    free(list);
    return NULL;
  }
  return list;
}

bool read_finished(const struct reader *r) { return !r->bad && r->left == 0; }

static uint8_t *put_number(uint8_t *at, uint64_t value, size_t bytes) {
  for (size_t i = 0; i < bytes; i++) {
    *at++ = (uint8_t)value;
    value >>= 8;
  }
  return at;
}

uint8_t *put_u8(uint8_t *at, uint8_t value) { return put_number(at, value, 1); }
uint8_t *put_u16(uint8_t *at, uint16_t value) { return put_number(at, value, 2); }
uint8_t *put_u32(uint8_t *at, uint32_t value) { return put_number(at, value, 4); }
uint8_t *put_u64(uint8_t *at, uint64_t value) { return put_number(at, value, 8); }
