/* What a SPAWN asks for. */
#ifndef CLOCHE_REQUEST_H
#define CLOCHE_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "commands/command.h"
#include "wire/frame.h"

struct request {
  uint32_t flags;
  uint32_t timeout_ms;
  uint32_t grace_ms;
  uint16_t cols;
  uint16_t rows;
  uint32_t ring_bytes;
  uint32_t credit;
  const char *tag;
  char **argv;
  char **env;
  struct command command;
};

/* False when it is no such request. Strings stay in the reader's memory; `request_free` frees the lists. */
bool request_read(struct reader *r, struct request *q);
void request_free(struct request *q);

#endif
