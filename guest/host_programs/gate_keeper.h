/* `cloche-guest gate-keeper`: keeps the gate of one workspace running. */
#ifndef CLOCHE_GATE_KEEPER_H
#define CLOCHE_GATE_KEEPER_H

int gate_keeper_main(int argc, char **argv);

#endif
