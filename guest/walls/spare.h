/*
 * What a wall needs that is the same for every workspace, made ahead of time: ids of its own, a user namespace with its limits, a network, and a stage with the guest
 * program and devices. No process is part of it: descriptors hold all of it, and it is gone when the last of them is closed, whoever is killed.
 */
#ifndef CLOCHE_SPARE_H
#define CLOCHE_SPARE_H

#include <stdbool.h>
#include <stddef.h>

/* In the order in which they are passed on. */
enum spare_part { SPARE_USERS, SPARE_NETWORK, SPARE_STAGE, SPARE_LOCK, SPARE_MAPPING, SPARE_PARTS };

struct spare {
  unsigned long own_ids; /* the first of them; 0: it has none, and no lock and no mapping */
  int parts[SPARE_PARTS];
};

/* `cloche-guest spare-wall --guest FILE MAP [--own-ids FIRST:RANGES]`: makes one and sends it to descriptor 3. */
int spare_main(int argc, char **argv);
/* Takes what was sent; false when nothing came. */
bool spare_receive(int channel, struct spare *spare);
void spare_close(struct spare *spare);

/* The one that this process was forked for; NULL: none. `wall` uses it. */
extern struct spare *spare_given;

#endif
