#ifndef CLOCHE_COPY_CONTENT_H
#define CLOCHE_COPY_CONTENT_H

/* `cloche-guest copy-content`: copies the file that is its stdin into the one that is its stdout, and leaves holes as they are. */
int copy_content_main(int argc, char **argv);

#endif
