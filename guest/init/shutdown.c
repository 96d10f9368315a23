#include "init/shutdown.h"

#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/bounds.h"
#include "base/loop.h"
#include "commands/descendants.h"

static int rounds;

static void round_of_kills(struct timer *t) {
  descendants_kill(getpid());
  while (waitpid(-1, NULL, WNOHANG) > 0) continue;
  bool childless = waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD;
  if (childless || ++rounds >= KILL_ROUNDS) loop_stop(0);
  else timer_set(t, KILL_ROUND_MS);
}

static struct timer timer = {.fire = round_of_kills};

void shutdown_begin(void) {
  if (!timer.armed) timer_set(&timer, 0);
}
