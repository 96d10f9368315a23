/** The exit code when whoever read our output has gone: as a shell reports a program that SIGPIPE ended. */
export const BROKEN_PIPE_EXIT = 141;
