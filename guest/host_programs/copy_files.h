/* Files of a project on their way into the cache. */
#ifndef CLOCHE_COPY_FILES_H
#define CLOCHE_COPY_FILES_H

int copy_files_main(int argc, char **argv);

#endif
