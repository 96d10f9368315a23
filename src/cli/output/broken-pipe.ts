/** The exit code when the reader of our output has gone: as a shell reports a program that SIGPIPE ended. */
export const BROKEN_PIPE_EXIT = 141;
