/* `cloche-guest sync FOLDER`: writes out the file system that a folder is on. Node can do that for one file only. */
#include "host_programs/sync_folder.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/launcher.h"

int sync_folder_main(int argc, char **argv) {
  if (argc != 2) fail_usage("missing folder");
  int fd = open(argv[1], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0 || syncfs(fd) < 0) fail("cannot write out %s", argv[1]);
  return 0;
}
