/*
 * Loaded into a gate, which is a program of Node's and has no such call: nobody else of the same user reads its memory, and it leaves no core. The kernel forgets it
 * when a program is executed, so it is said after that.
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>

/* SECURITY: what a gate was told is for nobody else, also where all processes are one user's (G-42) */
__attribute__((constructor)) static void close_process(void) {
  (void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  /* Of what a gate starts: a gate that is killed leaves nothing that goes on. */
  if (getenv("CLOCHE_ENDS_WITH_PARENT")) (void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
}
