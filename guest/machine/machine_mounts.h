/* The file systems of a machine: those that every one of an environment has, and those of one sandbox. */
#ifndef CLOCHE_MACHINE_MOUNTS_H
#define CLOCHE_MACHINE_MOUNTS_H

#include <stdbool.h>
#include <stddef.h>

#define MACHINE_ENVIRONMENT "/environment"
#define MACHINE_ROOT "/sandbox"
#define MACHINE_LAYERS "/disk/layers"
#define MACHINE_OWN_DISK "/dev/vdb"
#define MACHINE_OLD_DISK "/dev/vdd"

/* /dev, /proc and /sys of the machine itself. */
void machine_mount_kernel(void);
/* The environment, which is the same in every machine that is thawed later. */
void machine_mount_environment(void);
/* The disk that takes what a sandbox writes; folders that are missing on it are made. */
void machine_mount_disk(const char *device);
/* The sandbox's root and everything below it but /proc, with an empty baseline. Each folder in memory has that size. */
void machine_mount_sandbox(unsigned long long memory_bytes);
/* All of that again, on another disk. */
void machine_unmount_sandbox(void);
/* /workspace anew, on layers of the disk over the seed, if there is one. Reaches a guest program that runs already. */
void machine_mount_workspace(size_t layers, bool has_seed);
/* Opens the folders that the guest program works on, in its order; gives their number. */
size_t machine_open_folders(int *folders, size_t layers, bool has_seed);
/* A folder in memory, made when it is not there. */
void mount_memory(const char *target, unsigned mode, unsigned long long bytes);
/* The home of the sandbox's user, in an environment that has come without owners. */
void give_home(const char *path);
/* Closes the files of /proc that steer the kernel, or tell its secrets. */
void protect_kernel_files(void);
/* In the sandbox's own pid and mount namespaces: its /proc, and its root as ours. */
void machine_enter_sandbox(void);

#endif
