/* execve with the search of execvpe, over the PATH of the given environment. */
#ifndef CLOCHE_EXECUTE_H
#define CLOCHE_EXECUTE_H

/* Returns only on failure, with errno. */
void execute(char *const *argv, char *const *env);

#endif
