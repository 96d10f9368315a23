#include "confine.h"

#include <fcntl.h>
#include <linux/landlock.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "launcher.h"

/* As the kernel has them; headers may be older. */
#define FS_EXECUTE (1ull << 0)
#define FS_WRITE_FILE (1ull << 1)
#define FS_READ_FILE (1ull << 2)
#define FS_READ_DIR (1ull << 3)
#define FS_TRUNCATE (1ull << 14)
#define FS_IOCTL_DEV (1ull << 15)
#define NET_TCP 3ull
#define SCOPE_ALL 3ull

struct ruleset {
  uint64_t files;
  uint64_t network;
  uint64_t scope;
};

static int rules = -1;
static uint64_t handled;

/* Every right over files that a version of the interface knows. */
static uint64_t files_of(long version) {
  if (version >= 5) return (1ull << 16) - 1;
  if (version >= 3) return (1ull << 15) - 1;
  return version == 2 ? (1ull << 14) - 1 : (1ull << 13) - 1;
}

void confine_prepare(void) {
  long version = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
  if (version < 1) return;
  handled = files_of(version);
  struct ruleset asked = {.files = handled, .network = version >= 4 ? NET_TCP : 0, .scope = version >= 6 ? SCOPE_ALL : 0};
  rules = (int)syscall(SYS_landlock_create_ruleset, &asked, sizeof asked, 0);
  if (rules < 0) fail("cannot make rules for files");
}

static void allow(int fd, uint64_t rights) {
  struct landlock_path_beneath_attr rule = {.allowed_access = rights & handled, .parent_fd = fd};
  if (rules >= 0 && syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) != 0) fail("cannot allow a file");
}

static void allow_path(const char *path, uint64_t rights) {
  int fd = open(path, O_PATH | O_CLOEXEC);
  if (fd < 0) return;
  allow(fd, rights);
  close(fd);
}

void confine_allow_file(int fd, bool writable) { allow(fd, FS_READ_FILE | (writable ? FS_WRITE_FILE | FS_TRUNCATE : 0)); }

void confine_allow_folder(const char *path) { allow_path(path, FS_READ_FILE | FS_READ_DIR | FS_EXECUTE); }

void confine_allow_device(const char *path) { allow_path(path, FS_READ_FILE | FS_WRITE_FILE | FS_IOCTL_DEV); }

void confine(void) {
  if (rules < 0) return;
  if (syscall(SYS_landlock_restrict_self, rules, 0) != 0) fail("cannot leave the host's files");
  close(rules);
}
