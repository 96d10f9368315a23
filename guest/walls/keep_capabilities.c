#include "walls/keep_capabilities.h"

#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/launcher.h"

void keep_capabilities(void) {
  struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
  struct __user_cap_data_struct data[2];
  if (syscall(SYS_capget, &header, data) != 0) fail("cannot read the capabilities");
  for (int i = 0; i < 2; i++) data[i].inheritable = data[i].permitted;
  if (syscall(SYS_capset, &header, data) != 0) fail("cannot keep the capabilities");
  for (unsigned number = 0; number < 64; number++) {
    if (data[number / 32].permitted >> number % 32 & 1) (void)prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, number, 0, 0);
  }
}
