/* Whom root's gate becomes: each one somebody else, below the ids of sandboxes and emulators, and above those that systemd gives to containers. */
#ifndef CLOCHE_GATE_USER_H
#define CLOCHE_GATE_USER_H

#define GATE_FIRST_USER 1880000000 /* and the keeper's pid; the same as in own-user.ts */

#endif
