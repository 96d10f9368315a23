#ifndef CLOCHE_SYNC_FOLDER_H
#define CLOCHE_SYNC_FOLDER_H

int sync_folder_main(int argc, char **argv);

#endif
