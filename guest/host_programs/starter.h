#ifndef CLOCHE_STARTER_H
#define CLOCHE_STARTER_H

int starter_main(int argc, char **argv);

#endif
