#include "commands/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEFAULT_COLS 80
#define DEFAULT_ROWS 24

bool terminal_open(const struct command *c, uint16_t cols, uint16_t rows, int *ours, int *theirs) {
  int locked = 0;
  int number;
  char path[32];
  *ours = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (*ours < 0) return false;
  if (ioctl(*ours, TIOCSPTLCK, &locked) != 0 || ioctl(*ours, TIOCGPTN, &number) != 0) return false;
  snprintf(path, sizeof path, "/dev/pts/%d", number);
  *theirs = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (*theirs < 0) return false;
  struct winsize size = {.ws_col = cols ? cols : DEFAULT_COLS, .ws_row = rows ? rows : DEFAULT_ROWS};
  (void)ioctl(*ours, TIOCSWINSZ, &size);
  /* Where ids cannot be changed the terminal is the user's already. */
  if (fchown(*theirs, c->uid, c->gid) == 0) (void)fchmod(*theirs, 0600);
  return true;
}
