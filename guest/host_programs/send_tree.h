/* A tree of the host on its way into a sandbox. */
#ifndef CLOCHE_SEND_TREE_H
#define CLOCHE_SEND_TREE_H

int send_tree_main(int argc, char **argv);

#endif
