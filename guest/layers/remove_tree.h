#ifndef CLOCHE_REMOVE_TREE_H
#define CLOCHE_REMOVE_TREE_H

int remove_tree_main(int argc, char **argv);

#endif
