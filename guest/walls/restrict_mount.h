/* A mount that shows less than the one that it was made from. */
#ifndef CLOCHE_RESTRICT_MOUNT_H
#define CLOCHE_RESTRICT_MOUNT_H

/* Adds these flags (MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC) to the mount at `path`; it keeps those that it has. */
void restrict_mount(const char *path, unsigned long flags);

#endif
