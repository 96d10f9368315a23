/* Folders as they are on disk, mounted once more and nowhere yet, with other owners: the ids of the disk stand for those of one sandbox. */
#ifndef CLOCHE_MAPPED_TREE_H
#define CLOCHE_MAPPED_TREE_H

#include <stdbool.h>
#include <sys/types.h>

/* A user namespace that says so: ids from `on_disk` on are those from `own` on. For root only. `holder` is a process that has to be waited for, later. */
int mapping_open(unsigned long on_disk, unsigned long own, unsigned long count, pid_t *holder);
/* The folder, without what is mounted below it; with `mapping`, unless that is -1. -1, with errno, where the file system or the kernel cannot. */
int tree_open(const char *folder, int mapping);
/* Mounts it at the new folder `target`; the descriptor then leads there. */
void tree_attach(int tree, const char *target);
/* Whether this kernel makes overlays of folders that are mounted so. */
bool mapping_supported(void);

#endif
