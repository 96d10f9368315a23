/* `cloche-guest bridge`: stdin and stdout to the guest program's socket, for engines that only offer an exec. */
#ifndef CLOCHE_BRIDGE_H
#define CLOCHE_BRIDGE_H

int bridge_main(int argc, char **argv);

#endif
