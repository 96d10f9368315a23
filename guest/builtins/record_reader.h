/* Reads the records that a host sends to a builtin's stdin. */
#ifndef CLOCHE_RECORD_READER_H
#define CLOCHE_RECORD_READER_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

struct member {
  uint8_t type;
  uint32_t mode;
  struct timespec mtime;
  char path[PATH_MAX];
  char target[PATH_MAX];
};

/* The kind of the next record. All of these give up when the input ends or is wrong. */
uint8_t next_kind(void);
void next_member(struct member *member);
/* The length of a BYTES record, whose content is then taken in pieces. */
uint32_t next_length(void);
size_t next_bytes(void *bytes, size_t limit);
uint64_t next_number(void);
void next_text(char text[PATH_MAX]);
/* The same, but false for one that is too long, which is passed over. */
bool next_short_text(char text[PATH_MAX]);
/* From now on TERM, HUP and INT make the reader give up while it waits, and come at no other time. */
void reader_heed_signals(void);

#endif
