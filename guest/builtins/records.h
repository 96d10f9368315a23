/* What builtins write to stdout, and how they give up. Only for the forked child: failing ends the process. */
#ifndef CLOCHE_RECORDS_H
#define CLOCHE_RECORDS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

/* `f`, `d`, `l` or `o`. */
uint8_t type_of(mode_t mode);
/* Bytes of a file or link; nothing else has a size worth telling. */
uint64_t size_of(const struct stat *st);

void record_entry(const struct stat *st, const char *path, const char *link_target);
void record_bytes(const void *bytes, size_t count);
void record_file_end(void);
/* One of many files cannot be read, or not to its end; the others go on. */
void record_unreadable(int error);
/* To be called now and then by long work between two records: tells the host, if a while has gone by, that it goes on. */
void record_progress(void);
/* Either side may be NULL: not there. */
void record_change(uint8_t status, const struct stat *now, const struct stat *before, const char *path);
void record_done(uint64_t bytes);
void records_flush(void);

/* Writes ERROR and ends the process with code 1. */
void give_up(int error, const char *format, ...) __attribute__((noreturn, format(printf, 2, 3)));
/* The same with the path quoted and errno's text. */
void give_up_on(const char *what, const char *path) __attribute__((noreturn));

/* What has to happen before ERROR is written; NULL: nothing. Called once. */
void before_giving_up(void (*undo)(void));

/* Memory, or the process gives up. */
void *need(void *memory);

#endif
