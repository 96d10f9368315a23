/*
 * A command that fills the memory is ended by the kernel, but late. Before that, the kernel takes the pages of the programs that run, because it can read them from the disk again, and the programs need them again at once.
 * A machine without KVM spends minutes on that. So this process ends the largest command as soon as the memory holds nothing but data, and commands wait for memory most of the time.
 */
#include "machine/machine_pressure.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/descriptors.h"
#include "base/launcher.h"

/* For a tenth of a second nothing went on because all of them waited for memory. More is rare under emulation: to read a page is work there, which is no waiting. */
static const char trigger[] = "full 100000 1000000";
#define FULL_PERCENT 90

static const char *group;

static FILE *open_file(const char *name) {
  char path[128];
  snprintf(path, sizeof path, "%s/%s", group, name);
  return fopen(path, "re");
}

static unsigned long long read_limit(void) {
  unsigned long long limit = 0;
  FILE *file = open_file("memory.limit_in_bytes");
  if (!file) file = open_file("memory.max");
  if (file && fscanf(file, "%llu", &limit) != 1) limit = 0;
  if (file) fclose(file);
  return limit;
}

/* What cannot be read from a disk again: data of programs, and files in memory. Version 1 of cgroups calls the first "rss", version 2 "anon". */
static unsigned long long read_held(void) {
  unsigned long long held = 0, bytes;
  char line[128], name[64];
  FILE *file = open_file("memory.stat");
  while (file && fgets(line, sizeof line, file)) {
    if (sscanf(line, "%63s %llu", name, &bytes) != 2) continue;
    if (strcmp(name, "rss") == 0 || strcmp(name, "anon") == 0 || strcmp(name, "shmem") == 0) held += bytes;
  }
  if (file) fclose(file);
  return held;
}

static unsigned long read_pages(int pid) {
  unsigned long pages = 0;
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/statm", pid);
  FILE *file = fopen(path, "re");
  if (file && fscanf(file, "%*u %lu", &pages) != 1) pages = 0;
  if (file) fclose(file);
  return pages;
}

static void end_largest(void) {
  int pid, largest = 0;
  unsigned long most = 0;
  FILE *file = open_file("cgroup.procs");
  while (file && fscanf(file, "%d", &pid) == 1) {
    unsigned long pages = read_pages(pid);
    if (pages > most) most = pages, largest = pid;
  }
  if (file) fclose(file);
  if (largest > 0) (void)kill(largest, SIGKILL);
}

/* Does not return. */
static void watch(int pressure) {
  struct pollfd wait = {.fd = 0, .events = POLLPRI};
  /* The ports of the machine are others' to close. */
  if (!descriptors_keep(&pressure, 1, 0)) _exit(1);
  prctl(PR_SET_NAME, "cloche-pressure");
  while (poll(&wait, 1, -1) == 1 && !(wait.revents & POLLERR)) {
    unsigned long long limit = read_limit();
    if (limit > 0 && read_held() >= limit / 100 * FULL_PERCENT) end_largest();
  }
  _exit(0);
}

/* SECURITY: a command that fills the memory of a machine is ended before it holds up all the others (G-08) */
void machine_pressure_watch(const char *cgroup) {
  int pressure = open("/proc/pressure/memory", O_RDWR | O_NONBLOCK | O_CLOEXEC);
  if (pressure < 0) return;
  group = cgroup;
  if (write(pressure, trigger, sizeof trigger) == sizeof trigger) {
    pid_t pid = fork();
    if (pid < 0) fail("cannot start the watch over memory");
    if (pid == 0) watch(pressure);
  }
  close(pressure);
}
