/* Folders as they are on disk, with other owners: the ids of the disk stand for those of one sandbox. */
#ifndef CLOCHE_MAPPED_MOUNT_H
#define CLOCHE_MAPPED_MOUNT_H

#include <stdbool.h>

/* A user namespace that says so: ids from `on_disk` on are those from `own` on. For root only. */
int mapping_open(unsigned long on_disk, unsigned long own, unsigned long count);
/* Mounts the folder once more at the new folder `target`, without what is mounted below it; with `mapping`, unless that is -1. False, with errno, where
 * the file system or the kernel cannot. */
bool mount_again(const char *folder, int mapping, const char *target);
/* Whether this kernel makes overlays of folders that are mounted so. */
bool mapping_supported(void);

#endif
