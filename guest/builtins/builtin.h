/* File work inside the sandbox, done by a forked child that is the user already. */
#ifndef CLOCHE_BUILTIN_H
#define CLOCHE_BUILTIN_H

#include <stdbool.h>
#include <stdint.h>

#include "builtins/resolve.h"
#include "builtins/view.h"
#include "init/roots.h"

/* argv[0] is the builtin's name. Returns the exit code. */
int builtin_main(char *const *argv);
/* Whether it reads what commands have closed to everybody, and so keeps what it takes. */
bool builtin_reads_closed(const char *name);

/* Each takes its arguments without its name and returns the bytes of content that it moved. */
uint64_t builtin_stat(char *const *arguments);
uint64_t builtin_list(char *const *arguments);
uint64_t builtin_read(char *const *arguments);
uint64_t builtin_read_many(char *const *arguments);
uint64_t builtin_write(char *const *arguments);
uint64_t builtin_mkdir(char *const *arguments);
uint64_t builtin_remove(char *const *arguments);
uint64_t builtin_tree_out(char *const *arguments);
uint64_t builtin_tree_in(char *const *arguments);
uint64_t builtin_changes(char *const *arguments);
uint64_t builtin_layer_out(char *const *arguments);

/* Arguments as what they mean; give up when they do not. */
const struct root *argument_root(const char *text);
/* A path below a root, or below an earlier state of /workspace, which `layers:N` names: there no link is followed. */
struct place argument_place(const char *root, const char *path, unsigned flags);
/* The top of a root, or of such a state. */
void argument_view(const char *root, struct view *view);
const struct root *argument_writable_root(const char *text);
uint64_t argument_number(const char *text);
unsigned argument_mode(const char *text);

#endif
