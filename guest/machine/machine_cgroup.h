/* The memory of a machine's commands. */
#ifndef CLOCHE_MACHINE_CGROUP_H
#define CLOCHE_MACHINE_CGROUP_H

/* Makes their cgroup, with a little less than the machine has, and opens the file to join it by; -1 when the kernel has no such cgroups. */
int machine_cgroup_open(void);

#endif
