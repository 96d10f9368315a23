/* What of a folder of the host must not show: a layer over it in which those places are removed. */
#ifndef CLOCHE_COVER_H
#define CLOCHE_COVER_H

/* Gives the empty folder `cover`, the topmost layer, the mode of `folder`, which is the one below. */
void cover_start(int cover, int folder);
/* Hides the place `relative` of `folder`, also one that comes to be only later. */
void cover_place(int cover, int folder, const char *relative);
/* `cloche-guest cover --folder FOLDER --to COVER [PLACE]…`: the same for an overlay that somebody else mounts. */
int cover_main(int argc, char **argv);

#endif
