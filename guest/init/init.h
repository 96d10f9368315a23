/* `cloche-guest init`: the guest program itself. */
#ifndef CLOCHE_INIT_H
#define CLOCHE_INIT_H

int init_main(int argc, char **argv);

#endif
