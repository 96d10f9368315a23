#include "walls/wall_watch.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/descriptors.h"
#include "base/launcher.h"

#define KILLED_BY 128

/* SECURITY: it has no power over the sandbox that it could be made to use (G-04) */
static void give_up_power(void) {
  struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
  struct __user_cap_data_struct none[2] = {{0}, {0}};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || syscall(SYS_capset, &header, none) < 0) fail("cannot give up capabilities");
}

void wall_watch_begin(int program, const char *hostname) {
  char *words[] = {"cloche-wall", "wall-watch", "--hostname", (char *)(uintptr_t)hostname, NULL};
  give_up_power();
  /* Nothing of the sandbox stays open here but the log. */
  if (!descriptors_keep(&program, 1, STDERR_FILENO + 1)) fail("cannot close descriptors");
  fexecve(STDERR_FILENO + 1, words, (char *[]){NULL});
  fail("cannot watch the wall");
}

int wall_watch_main(int argc, char **argv) {
  (void)argc;
  (void)argv; /* for whoever looks for the sandbox's processes */
  int result;
  prctl(PR_SET_NAME, "cloche-wall");
  while (wait(&result) < 0) {
    if (errno != EINTR) fail("cannot wait for the sandbox");
  }
  return WIFEXITED(result) ? WEXITSTATUS(result) : KILLED_BY + WTERMSIG(result);
}
