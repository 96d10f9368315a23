#include "walls/idmap.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/launcher.h"

#define AGENT_ID 1000 /* uid and gid, on every backend */

int id_map_option(struct id_map *map, char *const *words) {
  bool single_agent = strcmp(words[0], "--single-agent") == 0;
  if (single_agent || strcmp(words[0], "--single") == 0) {
    map->single = true;
    map->own = single_agent ? AGENT_ID : 0;
    return 1;
  }
  if (strcmp(words[0], "--agent") == 0 && words[1]) {
    map->agent = sscanf(words[1], "%u:%u", &map->agent_uid, &map->agent_gid) == 2;
    map->own = AGENT_ID;
    return map->agent ? 2 : 0;
  }
  unsigned long *number = strcmp(words[0], "--shift-base") == 0    ? &map->shift_base
                          : strcmp(words[0], "--shift-count") == 0 ? &map->shift_count
                                                                   : NULL;
  if (!number || !words[1]) return 0;
  *number = strtoul(words[1], NULL, 10);
  return 2;
}

/* Waits in the old user namespace until the caller has entered the new one, then writes its maps. */
static pid_t start_mapper(const struct id_map *map, const int go_ahead[2]) {
  pid_t target = getpid();
  uid_t uid = geteuid();
  gid_t gid = getegid();
  pid_t mapper = fork();
  if (mapper < 0) fail("cannot fork");
  if (mapper > 0) return mapper;
  char byte, path[64], line[64];
  /* Without our own write end, the caller's failure ends the wait. */
  close(go_ahead[1]);
  if (read(go_ahead[0], &byte, 1) != 1) _exit(1);
  if (map->single) {
    snprintf(path, sizeof path, "/proc/%d/setgroups", (int)target);
    write_text(path, "deny");
  }
  snprintf(path, sizeof path, "/proc/%d/uid_map", (int)target);
  if (map->single) snprintf(line, sizeof line, "%u %u 1\n", map->own, uid);
  else if (map->agent) snprintf(line, sizeof line, "%u %u 1\n", map->own, map->agent_uid);
  else snprintf(line, sizeof line, "0 %lu %lu\n", map->shift_base, map->shift_count);
  write_text(path, line);
  snprintf(path, sizeof path, "/proc/%d/gid_map", (int)target);
  if (map->single) snprintf(line, sizeof line, "%u %u 1\n", map->own, gid);
  else if (map->agent) snprintf(line, sizeof line, "%u %u 1\n", map->own, map->agent_gid);
  write_text(path, line);
  _exit(0);
}

bool id_map_given(const struct id_map *map) { return map->single || map->agent || map->shift_count > 0; }

static void take_ids(const struct id_map *map) {
  if (!map->single && setgroups(0, NULL) < 0) fail("cannot drop groups");
  if (setresgid(map->own, map->own, map->own) < 0 || setresuid(map->own, map->own, map->own) < 0) fail("cannot take the mapped ids");
}

void id_map_enter(const struct id_map *map, int flags, void (*open_paths)(void *), void *argument) {
  bool mapped = id_map_given(map);
  int go_ahead[2] = {-1, -1};
  pid_t mapper = -1;
  if (mapped) {
    if (pipe2(go_ahead, O_CLOEXEC) < 0) fail("cannot make a pipe");
    mapper = start_mapper(map, go_ahead);
  }
  if (unshare(flags | (mapped ? CLONE_NEWUSER : 0)) < 0) fail("cannot make a %snamespace", mapped ? "user " : "mount ");
  open_paths(argument);
  if (!mapped) return;
  int result;
  if (write(go_ahead[1], "x", 1) != 1 || waitpid(mapper, &result, 0) < 0) fail("cannot map user ids");
  if (!WIFEXITED(result) || WEXITSTATUS(result) != 0) {
    errno = EPERM;
    fail("cannot map user ids");
  }
  close(go_ahead[0]);
  close(go_ahead[1]);
  take_ids(map);
}

void id_map_join(const struct id_map *map, int users, int flags, void (*open_paths)(void *), void *argument) {
  if (setns(users, CLONE_NEWUSER) < 0) fail("cannot enter a user namespace");
  /* Made after it was entered, so that it belongs to it. */
  if (unshare(flags) < 0) fail("cannot make a mount namespace");
  open_paths(argument);
  take_ids(map);
}
