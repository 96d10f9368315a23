/* A network of the sandbox's own, with a loopback interface and nothing else, made while the launcher mounts. */
#ifndef CLOCHE_OWN_NETWORK_H
#define CLOCHE_OWN_NETWORK_H

#include <sys/types.h>

struct own_network {
  pid_t maker;
  int namespace; /* once the maker has ended */
};

/* Begins to make it, in the user namespace of the caller. */
void own_network_begin(struct own_network *network);
/* Waits for it and enters it. */
void own_network_enter(const struct own_network *network);

#endif
