/* The virtio serial ports of a machine, found by name. */
#ifndef CLOCHE_MACHINE_PORT_H
#define CLOCHE_MACHINE_PORT_H

#include <stdbool.h>
#include <stddef.h>

/* Opens the port, waiting a while for it to appear; -1 with errno. A port can be open once. */
int machine_port_open(const char *name);

/* One line without its end; false when it is too long. Waits for a host and forgets what an earlier one said in part. Of one port only. */
bool machine_port_line(int fd, char *line, size_t size);
/* For a child that has nothing to do with the port that lines come from. */
void machine_port_leave(int fd);
void machine_port_say(int fd, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
