/* The first process of a virtual machine: what a launcher and a wall do elsewhere. */
#ifndef CLOCHE_MACHINE_H
#define CLOCHE_MACHINE_H

int machine_main(int argc, char **argv);

#endif
