/* The process that waits for a sandbox's first one, outside of its namespace. */
#ifndef CLOCHE_WALL_WATCH_H
#define CLOCHE_WALL_WATCH_H

/* Becomes it: `program` is this program, open. The process has one child, which it waits for. */
void wall_watch_begin(int program, const char *hostname) __attribute__((noreturn));
/* `cloche-guest wall-watch --hostname NAME`: ends as its child does. */
int wall_watch_main(int argc, char **argv);

#endif
