#ifndef CLOCHE_ENTER_H
#define CLOCHE_ENTER_H

/* The first process of a container that an engine made: leaves the host's ids for those of a sandbox, then becomes `init`. */
int enter_main(int argc, char **argv);

#endif
