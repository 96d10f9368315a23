#include "launcher.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int launcher_status = -1;

void fail(const char *format, ...) {
  char message[512];
  int saved = errno;
  va_list arguments;
  va_start(arguments, format);
  if (vsnprintf(message, sizeof message, format, arguments) < 0) message[0] = 0;
  va_end(arguments);
  if (launcher_status >= 0) dprintf(launcher_status, "E%s: %s", message, strerror(saved));
  dprintf(STDERR_FILENO, "%s: %s\n", message, strerror(saved)); /* the wall's log */
  _exit(125);
}

void fail_usage(const char *message) {
  errno = EINVAL;
  fail("%s", message);
}

void write_text(const char *path, const char *text) {
  int file = open(path, O_WRONLY | O_CLOEXEC);
  if (file < 0) fail("cannot open %s", path);
  if (write(file, text, strlen(text)) < 0) fail("cannot write %s", path);
  close(file);
}

int open_path(const char *path) {
  int fd = open(path, O_PATH | O_CLOEXEC);
  if (fd < 0) fail("cannot open %s", path);
  return fd;
}
