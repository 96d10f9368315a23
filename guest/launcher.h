/* What the programs of the host side share: `wall` and `copy-layer`. They end with code 125 when they cannot go on. */
#ifndef CLOCHE_LAUNCHER_H
#define CLOCHE_LAUNCHER_H

/* Where failures are told besides stderr, as "E message"; -1: nowhere. */
extern int launcher_status;

/* Tells the message with errno's text and ends the process. */
void fail(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));
/* The same for what a caller did wrong. */
void fail_usage(const char *message) __attribute__((noreturn));
void write_text(const char *path, const char *text);
/* A descriptor for the path itself, whatever it is. */
int open_path(const char *path);

#endif
