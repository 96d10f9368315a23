/* Encoding and decoding of frame payloads and of builtins' records: little-endian, bounds-checked. */
#ifndef CLOCHE_FRAME_H
#define CLOCHE_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reads what is there; `bad` once anything was missing or wrong, and then everything reads as 0. */
struct reader {
  uint8_t *at;
  size_t left;
  bool bad;
};

uint8_t read_u8(struct reader *r);
uint16_t read_u16(struct reader *r);
uint32_t read_u32(struct reader *r);
uint64_t read_u64(struct reader *r);
/* A `str` as a C string, made in place over its own length field; NULL and bad when it holds a NUL or is longer than `limit`. */
char *read_string(struct reader *r, size_t limit);
/* A list of strings, NULL-terminated, allocated; NULL and bad when it is wrong or there is no memory. */
char **read_strings(struct reader *r, size_t limit);
/* True when all was read and nothing was wrong. */
bool read_finished(const struct reader *r);

uint8_t *put_u8(uint8_t *at, uint8_t value);
uint8_t *put_u16(uint8_t *at, uint16_t value);
uint8_t *put_u32(uint8_t *at, uint32_t value);
uint8_t *put_u64(uint8_t *at, uint64_t value);

#endif
