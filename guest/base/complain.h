/* The guest program's own errors: one line on stderr. */
#ifndef CLOCHE_COMPLAIN_H
#define CLOCHE_COMPLAIN_H

void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
