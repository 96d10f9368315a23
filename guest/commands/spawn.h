/* SPAWN: reads the request, makes pipes or a terminal, and starts the command. */
#ifndef CLOCHE_SPAWN_H
#define CLOCHE_SPAWN_H

#include <stdint.h>

#include "wire/connection.h"
#include "wire/frame.h"

void spawn_request(struct connection *c, uint32_t stream, struct reader *r);

#endif
