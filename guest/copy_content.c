#include "copy_content.h"

#include <stdint.h>
#include <unistd.h>

#include "copy_file.h"
#include "launcher.h"

int copy_content_main(void) {
  struct stat st;
  uint64_t bytes;
  if (!copy_content(STDIN_FILENO, STDOUT_FILENO, &st, &bytes)) fail("cannot copy");
  return 0;
}
