#include "base/complain.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void complain(const char *format, ...) {
  char line[512] = "cloche-guest: ";
  size_t used = strlen(line);
  va_list arguments;
  va_start(arguments, format);
  int printed = vsnprintf(line + used, sizeof line - used - 1, format, arguments);
  va_end(arguments);
  if (printed < 0) return;
  used = strlen(line);
  line[used++] = '\n';
  /* Nobody is left to tell when this fails. */
  if (write(STDERR_FILENO, line, used) < 0) return;
}
