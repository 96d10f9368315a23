/* The file system of a sandbox, put together on the launcher's stage. */
#ifndef CLOCHE_SANDBOX_TREE_H
#define CLOCHE_SANDBOX_TREE_H

#include "walls/host_folders.h"

/* Mounts on the stage's root all that a sandbox sees, but for /proc: folders of the host, devices, memory-backed folders of that many bytes, the workspace, the
 * guest program. A descriptor of its root. */
int sandbox_tree_make(const struct host_folders *folders, const char *memory);
/* Makes the folder `path` of the tree, if it is not there, and writes a path of the same place to `target`. The descriptor has to be open while that is used. */
int sandbox_tree_folder(int tree, const char *path, char target[32]);

#endif
