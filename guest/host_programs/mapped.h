/* Runs a program of the host with a sandbox's view of user ids. */
#ifndef CLOCHE_MAPPED_H
#define CLOCHE_MAPPED_H

int mapped_main(int argc, char **argv);

#endif
