/* Prints the system call filter of each purpose, one instruction a line, instead of installing it: for a test that plays it. */
#include <linux/filter.h>
#include <stdarg.h>
#include <stdio.h>

#include "commands/seccomp.h"

int __wrap_prctl(int option, ...);

int __wrap_prctl(int option, ...) {
  va_list rest;
  va_start(rest, option);
  (void)va_arg(rest, unsigned long);
  const struct sock_fprog *filter = va_arg(rest, const struct sock_fprog *);
  va_end(rest);
  for (unsigned i = 0; i < filter->len; i++) {
    struct sock_filter one = filter->filter[i];
    printf("%u %u %u %u\n", one.code, one.jt, one.jf, one.k);
  }
  return 0;
}

int main(void) {
  static const struct {
    enum seccomp_purpose purpose;
    const char *name;
  } all[] = {{SECCOMP_COMMAND, "command"}, {SECCOMP_BUILTIN, "builtin"}, {SECCOMP_EMULATOR, "emulator"}, {SECCOMP_KEEPER, "keeper"}};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    puts(all[i].name);
    if (!seccomp_install(all[i].purpose)) return 1;
  }
  return 0;
}
