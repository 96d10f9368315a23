/* What the programs of the host side share: `wall`, `emulator`, `gate-keeper`, `copy-layer`. They end with code 125 when they cannot go on. */
#ifndef CLOCHE_LAUNCHER_H
#define CLOCHE_LAUNCHER_H

#define WALL_PID "wall.pid"

/* Where failures are told besides stderr, as "E message"; -1: nowhere. */
extern int launcher_status;
/* What is done instead, and does not return; NULL: nothing. */
extern void (*launcher_failed)(int error, const char *message);

/* Tells the message with errno's text and ends the process. */
void fail(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));
/* The same for what a caller did wrong. */
void fail_usage(const char *message) __attribute__((noreturn));
void write_text(const char *path, const char *text);
/* A socket that listens there and that only its owner may connect to; what had that name is gone. */
int listen_privately(const char *path);
/* Writes "PID START" to that file in the current folder: the start time tells this process from a later one with the same pid. */
void record_own_pid(const char *name);
/* A descriptor for the path itself, whatever it is. */
int open_path(const char *path);

#endif
