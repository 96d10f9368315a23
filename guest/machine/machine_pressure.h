/* Commands of a machine that have filled their memory, and get nowhere. */
#ifndef CLOCHE_MACHINE_PRESSURE_H
#define CLOCHE_MACHINE_PRESSURE_H

/* Starts a process that watches the cgroup at this place, as long as the machine runs. Does nothing where the kernel tells no pressure. */
void machine_pressure_watch(const char *cgroup);

#endif
