#include "machine/machine_cgroup.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/launcher.h"
#include "machine/machine_pressure.h"

#define PLACE "/cgroup"
#define COMMANDS PLACE "/commands"
#define GUEST_KIB (48ul * 1024) /* at most, for the guest program, file work and the kernel itself */

/* Version 1 first: to join takes a lock of the whole machine in version 2, which some kernels have alone. */
static const struct version {
  const char *type, *options, *enable, *limit, *join;
} versions[] = {
    {"cgroup", "memory", NULL, COMMANDS "/memory.limit_in_bytes", COMMANDS "/tasks"},
    {"cgroup2", NULL, PLACE "/cgroup.subtree_control", COMMANDS "/memory.max", COMMANDS "/cgroup.procs"},
};

static unsigned long available_kib(void) {
  unsigned long found = 0;
  char line[128];
  FILE *file = fopen("/proc/meminfo", "re");
  while (file && fgets(line, sizeof line, file) && sscanf(line, "MemAvailable: %lu", &found) != 1) continue;
  if (file) fclose(file);
  return found;
}

/* SECURITY: commands run out of memory before the machine does, so that none of them has the guest program ended (G-08) */
static void set_limit(const char *path) {
  char bytes[32];
  unsigned long available = available_kib();
  /* Of a small machine less: half of its memory may be files in a folder in memory, and what runs beside them needs room to stay in memory too. */
  unsigned long kept = available / 6 < GUEST_KIB ? available / 6 : GUEST_KIB;
  unsigned long kib = available - kept;
  snprintf(bytes, sizeof bytes, "%llu", kib * 1024ull);
  write_text(path, bytes);
}

int machine_cgroup_open(void) {
  size_t i = 0;
  if (mkdir(PLACE, 0755) != 0) fail("cannot make %s", PLACE);
  while (i < sizeof versions / sizeof *versions && mount("cgroup", PLACE, versions[i].type, 0, versions[i].options) != 0) i++;
  if (i == sizeof versions / sizeof *versions) return -1;
  if (versions[i].enable) write_text(versions[i].enable, "+memory");
  if (mkdir(COMMANDS, 0755) != 0) fail("cannot make %s", COMMANDS);
  set_limit(versions[i].limit);
  machine_pressure_watch(COMMANDS);
  int fd = open(versions[i].join, O_WRONLY | O_CLOEXEC);
  if (fd < 0) fail("cannot open %s", versions[i].join);
  return fd;
}
