/* What each frame of the host asks for. */
#ifndef CLOCHE_DISPATCH_H
#define CLOCHE_DISPATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/connection.h"
#include "wire/frame.h"

/* What HELLO tells; set once at the start. */
struct identity {
  uint16_t flags;
  uint8_t boot_id[16];
};
extern struct identity identity;

void dispatch_frame(struct connection *c, uint8_t type, uint32_t stream, struct reader *payload);

#endif
