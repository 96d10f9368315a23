/* Connections between loopback ports in the sandbox and streams to the host: ports in, doors out. */
#ifndef CLOCHE_RELAY_H
#define CLOCHE_RELAY_H

#include <stddef.h>
#include <stdint.h>

#include "wire/connection.h"
#include "wire/wire.h"

/* CONNECT. */
void relay_connect(struct connection *c, uint32_t stream, uint16_t port, uint32_t credit);
void relay_data(struct relay *relay, const uint8_t *bytes, size_t count);
void relay_end(struct relay *relay);
/* Goes on after credit or room came. */
void relay_resume(struct relay *relay);
void relay_free(struct relay *relay);
/* Gives the socket of a relay away that has carried nothing yet; -1 when it has. */
int relay_release(struct relay *relay);
/* A relay over a connected socket, which it takes over; NULL, and the socket closed, when there is no memory. */
struct relay *relay_adopt(struct stream *s, int fd);

/* LISTEN. */
void door_open(struct connection *c, uint32_t stream, uint16_t port, enum door_kind kind);
/* DATAGRAM: an answer, to where its question came from. False for a door that takes none. */
bool door_datagram(struct door *door, uint32_t address, uint16_t port, const uint8_t *bytes, size_t count);
/* LEND: the host accepts what connects to that door, until this connection ends. False, with nothing changed, when it cannot. */
bool door_lend(struct connection *c, uint16_t port);
void door_free(struct door *door);

#endif
