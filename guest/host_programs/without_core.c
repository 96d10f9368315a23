/* `cloche-guest without-core PROGRAM [ARGUMENT…]`: becomes a program that leaves no core. Node cannot set a limit. */
#include "host_programs/without_core.h"

#include <sys/resource.h>
#include <unistd.h>

#include "base/launcher.h"

int without_core_main(int argc, char **argv) {
  if (argc < 2) fail_usage("missing program");
  /* SECURITY: a daemon that crashes leaves no file with tokens. One byte and not none: `gate_keeper.c` says why (G-55) */
  struct rlimit none = {.rlim_cur = 1, .rlim_max = 1};
  struct rlimit now;
  if (getrlimit(RLIMIT_CORE, &now) != 0) fail("cannot read the limit of cores");
  if (now.rlim_max < none.rlim_max) none.rlim_cur = none.rlim_max = now.rlim_max;
  if (setrlimit(RLIMIT_CORE, &none) != 0) fail("cannot limit cores");
  execv(argv[1], argv + 1);
  fail("cannot run %s", argv[1]);
}
