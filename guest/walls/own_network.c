/*
 * To bring an interface up the kernel waits until all processors have noticed: four milliseconds in which nothing is done. So another
 * process makes the network while the launcher mounts.
 */
#include "walls/own_network.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/launcher.h"
#include "init/loopback.h"

static void make_at(int namespace) {
  if (unshare(CLONE_NEWNET) < 0) fail("cannot make a network");
  loopback_up();
  int made = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
  if (made < 0 || dup3(made, namespace, O_CLOEXEC) < 0 || close(made) < 0) fail("cannot keep a network");
}

void own_network_begin(struct own_network *network) {
  network->namespace = open_path("/"); /* keeps the number */
  /* The maker has the launcher's own table of descriptors: the launcher may not open what the kernel tells of another process. */
  network->maker = (pid_t)syscall(SYS_clone, CLONE_FILES | SIGCHLD, NULL, NULL, NULL, NULL);
  if (network->maker < 0) fail("cannot fork");
  if (network->maker > 0) return;
  make_at(network->namespace);
  _exit(0);
}

/* SECURITY: a sandbox that has no network of its own does not start (G-03) */
void own_network_enter(const struct own_network *network) {
  int result;
  if (waitpid(network->maker, &result, 0) < 0) fail("cannot wait for a network");
  if (!WIFEXITED(result) || WEXITSTATUS(result) != 0) {
    errno = ECHILD;
    fail("cannot make a network");
  }
  if (setns(network->namespace, CLONE_NEWNET) < 0 || close(network->namespace) < 0) fail("cannot enter the network");
}
