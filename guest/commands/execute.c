#include "commands/execute.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEFAULT_PATH "/usr/local/bin:/usr/bin:/bin"

static void run_as_script(const char *file, char *const *argv, char *const *env) {
  size_t count = 0;
  while (argv[count]) count++;
  const char **script = calloc(count + 2, sizeof *script);
  if (!script) return;
  script[0] = "/bin/sh";
  script[1] = file;
  for (size_t i = 1; i < count; i++) script[i + 1] = argv[i];
  execve(script[0], (char *const *)(void *)script, env);
  free(script);
}

static void try_file(const char *file, char *const *argv, char *const *env) {
  execve(file, argv, env);
  if (errno == ENOEXEC) run_as_script(file, argv, env);
}

static const char *find_path(char *const *env) {
  for (; *env; env++) {
    if (strncmp(*env, "PATH=", 5) == 0) return *env + 5;
  }
  return DEFAULT_PATH;
}

void execute(char *const *argv, char *const *env) {
  const char *name = argv[0];
  size_t length = strlen(name);
  if (length == 0) {
    errno = ENOENT;
    return;
  }
  if (strchr(name, '/')) {
    try_file(name, argv, env);
    return;
  }
  int seen = ENOENT;
  for (const char *at = find_path(env);; at++) {
    size_t folder = strcspn(at, ":");
    char file[PATH_MAX];
    if (folder + length + 2 <= sizeof file) {
      memcpy(file, at, folder);
      /* An empty entry means the current folder. */
      size_t used = folder;
      if (folder > 0) file[used++] = '/';
      memcpy(file + used, name, length + 1);
      try_file(file, argv, env);
      if (errno == EACCES) seen = EACCES;
      else if (errno != ENOENT && errno != ENOTDIR && errno != ELOOP && errno != ENAMETOOLONG) return;
    }
    at += folder;
    if (*at == 0) break;
  }
  errno = seen;
}
