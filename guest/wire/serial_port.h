/* A virtio serial port as a way in for the host: one connection at a time, any number one after the other. */
#ifndef CLOCHE_SERIAL_PORT_H
#define CLOCHE_SERIAL_PORT_H

#include <stdbool.h>

/* Takes over the descriptor; false when it cannot. */
bool serial_port_adopt(int fd);

#endif
