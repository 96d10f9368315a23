/*
 * The user that makes a user namespace is charged for what is used in it. Without limits of its own a sandbox could take all inotify
 * instances of the user, and no program of the user could watch a file any more.
 */
#include "walls/namespace_limits.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct {
  const char *name;
  const char *most;
} limits[] = {
    /* A user has 128 instances in all, unless the host was told otherwise. */
    {"max_inotify_instances", "32"},
    {"max_inotify_watches", "65536"},
    {"max_fanotify_groups", "4"},
    {"max_fanotify_marks", "8192"},
    /* One for each command that may run, should all of them get secrets, and what the wall needs. */
    {"max_user_namespaces", "1032"},
    /* The wall itself makes one or two of each; commands cannot make any. */
    {"max_mnt_namespaces", "8"},
    {"max_pid_namespaces", "8"},
    {"max_net_namespaces", "8"},
    {"max_ipc_namespaces", "8"},
    {"max_uts_namespaces", "8"},
    {"max_cgroup_namespaces", "8"},
    {"max_time_namespaces", "8"},
};

/* SECURITY: what a sandbox takes of the user's share is bounded (G-15) */
const char *namespace_limits_set(void) {
  for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
    char path[64];
    snprintf(path, sizeof path, "/proc/sys/user/%s", limits[i].name);
    int file = open(path, O_WRONLY | O_CLOEXEC);
    if (file < 0 && errno == ENOENT) continue; /* a kernel that does not count it */
    if (file < 0 || write(file, limits[i].most, strlen(limits[i].most)) < 0) return limits[i].name;
    close(file);
  }
  return NULL;
}
