#include "base/code_pages.h"

#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

/* The linker's names for where the code is. */
extern char __executable_start[], etext[];

void code_pages_release(void) {
  uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  uintptr_t start = (uintptr_t)__executable_start & ~(page - 1);
  uintptr_t end = (uintptr_t)etext & ~(page - 1);
  /* They are as they were in the file. Where that cannot be done they stay. */
  (void)madvise((void *)start, end - start, MADV_DONTNEED);
}
