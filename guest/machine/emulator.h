/* Starts the emulator of a machine without the privileges of the user who runs cloche. */
#ifndef CLOCHE_EMULATOR_H
#define CLOCHE_EMULATOR_H

int emulator_main(int argc, char **argv);

#endif
