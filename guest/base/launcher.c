#include "base/launcher.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

int launcher_status = -1;
void (*launcher_failed)(int error, const char *message);

void fail(const char *format, ...) {
  char message[512];
  int saved = errno;
  va_list arguments;
  va_start(arguments, format);
  if (vsnprintf(message, sizeof message, format, arguments) < 0) message[0] = 0;
  va_end(arguments);
  if (launcher_failed) launcher_failed(saved, message);
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

int listen_privately(const char *path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (listener < 0) fail("cannot make a socket");
  if (strlen(path) >= sizeof address.sun_path) {
    errno = ENAMETOOLONG;
    fail("cannot listen on %s", path);
  }
  memcpy(address.sun_path, path, strlen(path) + 1);
  if (unlink(path) < 0 && errno != ENOENT) fail("cannot remove the old socket");
  mode_t mask = umask(0177);
  if (bind(listener, (struct sockaddr *)&address, sizeof address) < 0 || listen(listener, 64) < 0) fail("cannot listen on %s", path);
  umask(mask);
  return listener;
}

void record_own_pid(const char *name) {
  char stat_text[1024];
  int stat_file = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
  ssize_t length = stat_file < 0 ? -1 : read(stat_file, stat_text, sizeof stat_text - 1);
  if (length <= 0) fail("cannot read /proc/self/stat");
  close(stat_file);
  stat_text[length] = '\0';
  char *field = strrchr(stat_text, ')');
  for (int number = 2; field && number < 22; number++) {
    field = strchr(field + 1, ' ');
  }
  if (!field) fail("cannot parse /proc/self/stat");
  char line[64];
  char temporary[64];
  snprintf(temporary, sizeof temporary, "%s.tmp", name);
  snprintf(line, sizeof line, "%d %llu\n", (int)getpid(), strtoull(field + 1, NULL, 10));
  int file = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0 || write(file, line, strlen(line)) < 0 || close(file) < 0 || rename(temporary, name) < 0)
    fail("cannot write %s", name);
}
