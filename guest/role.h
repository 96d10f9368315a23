/* What the program is started as: `cloche-guest ROLE ARGUMENTS…`. */
#ifndef CLOCHE_ROLE_H
#define CLOCHE_ROLE_H

/* Plays the role that `argv[0]` names and gives its exit code, or ROLE_UNKNOWN. */
int role_play(int argc, char **argv);

#define ROLE_UNKNOWN (-1)

#endif
