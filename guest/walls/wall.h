#ifndef CLOCHE_WALL_H
#define CLOCHE_WALL_H

/* The step before the wall: runs on the host side, builds the layers in namespaces of its own and becomes the wall. */
int wall_main(int argc, char **argv);

#endif
