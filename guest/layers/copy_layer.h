#ifndef CLOCHE_COPY_LAYER_H
#define CLOCHE_COPY_LAYER_H

/* `cloche-guest copy-layer --from DIR --to DIR [--single | --shift-base N --shift-count N]`: runs on the host side and copies a
 * writable layer, which a sandbox may be writing to, into an empty folder. Prints the bytes of content. */
int copy_layer_main(int argc, char **argv);

#endif
