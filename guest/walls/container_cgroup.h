/* The memory of a container's commands. */
#ifndef CLOCHE_CONTAINER_CGROUP_H
#define CLOCHE_CONTAINER_CGROUP_H

/* Makes their cgroup below the container's own, with this limit, and opens the file to join it by, without close-on-exec. */
int container_cgroup_open(const char *bytes);

#endif
