#ifndef CLOCHE_SPREAD_FOLDERS_H
#define CLOCHE_SPREAD_FOLDERS_H

int spread_folders_main(int argc, char **argv);

#endif
