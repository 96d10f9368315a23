/*
 * Loaded into the emulator of a thawed machine. All machines of one template start from one file with its memory, and each is to have its own copy as
 * soon as it writes. The emulator is told that this memory is shared, so that it leaves it out when it saves or loads a machine's state; here its file
 * is opened for reading only and mapped privately. So a machine has no way to change the memory that all others start from.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static int memory_fd = -1;

static int open_file(const char *path, int flags, unsigned mode) {
  const char *memory = getenv("PRIVATE_MEMORY_FILE");
  /* SECURITY: what one machine does to its memory must not reach another (G-22) */
  int is_memory = memory && strcmp(path, memory) == 0;
  if (is_memory) flags = (flags & ~O_ACCMODE) | O_RDONLY;
  int fd = (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
  if (is_memory) memory_fd = fd;
  return fd;
}

static unsigned mode_of(int flags, va_list arguments) { return flags & O_CREAT ? va_arg(arguments, unsigned) : 0; }

int open(const char *path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  unsigned mode = mode_of(flags, arguments);
  va_end(arguments);
  return open_file(path, flags, mode);
}

int open64(const char *path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  unsigned mode = mode_of(flags, arguments);
  va_end(arguments);
  return open_file(path, flags, mode);
}

/* What a program that was compiled with more checks calls. */
int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);
int __open_2(const char *path, int flags) { return open_file(path, flags, 0); }
int __open64_2(const char *path, int flags) { return open_file(path, flags, 0); }

static void *map(void *address, size_t length, int protection, int flags, int fd, off_t offset) {
  if (fd >= 0 && fd == memory_fd && flags & MAP_SHARED) flags = (flags & ~(MAP_SHARED | MAP_SHARED_VALIDATE | MAP_SYNC)) | MAP_PRIVATE;
  return (void *)syscall(SYS_mmap, address, length, protection, flags, fd, offset);
}

void *mmap(void *address, size_t length, int protection, int flags, int fd, off_t offset) {
  return map(address, length, protection, flags, fd, offset);
}

void *mmap64(void *address, size_t length, int protection, int flags, int fd, off_t offset) {
  return map(address, length, protection, flags, fd, offset);
}
