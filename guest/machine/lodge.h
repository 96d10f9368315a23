#ifndef CLOCHE_LODGE_H
#define CLOCHE_LODGE_H

/* Lodges a sandbox in a machine that somebody else has booted. */
int lodge_main(int argc, char **argv);

#endif
