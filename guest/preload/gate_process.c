/*
 * Loaded into a gate, which is a program of Node's and has no such calls. First of all it closes the process: nobody else of the same user reads its memory, and it leaves
 * no core. The kernel forgets that when a program is executed, so it is said after that. Then it is a module of Node's, which gives back what an idle gate does not need.
 */
#include <link.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

/* SECURITY: what a gate was told is for nobody else, also where all processes are one user's (G-42) */
__attribute__((constructor)) static void close_process(void) {
  (void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  /* Of what a gate starts: a gate that is killed leaves nothing that goes on. */
  if (getenv("CLOCHE_ENDS_WITH_PARENT")) (void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
}

/* What is never written is as it was in the file, and comes back page by page when it is needed again. */
static int give_back_segments(struct dl_phdr_info *program, size_t size, void *unused) {
  (void)size;
  (void)unused;
  uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  for (int i = 0; i < program->dlpi_phnum; i++) {
    const ElfW(Phdr) *segment = &program->dlpi_phdr[i];
    if (segment->p_type != PT_LOAD || segment->p_flags & PF_W) continue;
    uintptr_t start = ((uintptr_t)program->dlpi_addr + segment->p_vaddr) & ~(page - 1);
    uintptr_t end = ((uintptr_t)program->dlpi_addr + segment->p_vaddr + segment->p_memsz) & ~(page - 1);
    /* Where that cannot be done they stay. */
    (void)madvise((void *)start, end - start, MADV_DONTNEED);
  }
  return 1; /* the first is the program itself, and the only one that is meant */
}

/* The part of Node's interface for modules that is used, as its documentation has it. Weak: what a gate starts besides is no Node. */
typedef struct napi_env__ *napi_env;
typedef struct napi_value__ *napi_value;
typedef struct napi_callback_info__ *napi_callback_info;
typedef napi_value (*napi_callback)(napi_env, napi_callback_info);
extern int napi_create_function(napi_env, const char *, size_t, napi_callback, void *, napi_value *) __attribute__((weak));
napi_value napi_register_module_v1(napi_env env, napi_value exports);

static napi_value give_back(napi_env env, napi_callback_info unused) {
  (void)env;
  (void)unused;
  (void)dl_iterate_phdr(give_back_segments, NULL);
  return NULL;
}

napi_value napi_register_module_v1(napi_env env, napi_value exports) {
  napi_value made = NULL;
  return napi_create_function(env, NULL, 0, give_back, NULL, &made) == 0 ? made : exports;
}
