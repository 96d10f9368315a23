/*
 * An emulator of programs, such as qemu-aarch64, passes system calls on one by one and cannot have them filtered: it refuses the call that installs a filter,
 * and the guest program then runs nothing. Linked over prctl(), for tests only. What the filter does is judged by itself: see print_filter.c.
 */
#include <linux/seccomp.h>
#include <stdarg.h>
#include <sys/prctl.h>

int __real_prctl(int option, ...);
int __wrap_prctl(int option, ...);

int __wrap_prctl(int option, ...) {
  unsigned long argument[4];
  va_list rest;
  va_start(rest, option);
  for (int i = 0; i < 4; i++) argument[i] = va_arg(rest, unsigned long);
  va_end(rest);
  if (option == PR_SET_SECCOMP && argument[0] == SECCOMP_MODE_FILTER) return 0;
  if (option == PR_GET_SECCOMP) return SECCOMP_MODE_FILTER;
  return __real_prctl(option, argument[0], argument[1], argument[2], argument[3]);
}
