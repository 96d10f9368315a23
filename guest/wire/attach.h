/* Streams that follow a process: what they are sent and when. */
#ifndef CLOCHE_ATTACH_H
#define CLOCHE_ATTACH_H

#include <stdbool.h>

#include "wire/connection.h"

struct process;

/* Puts a stream on a process and sends what it can have by now. */
void attach_stream(struct stream *s, struct process *p);
/* Puts a stream there that wants STARTED and EXIT only. It is no reader: nothing waits for it. */
void attach_watcher(struct stream *s, struct process *p);
/* Puts a stream there that only waits: FORGET for the process to be gone, SWEEP for all below it. */
void attach_waiter(struct stream *s, struct process *p);
/* OK for every stream of that kind. */
void attach_answer_waiters(struct process *p, enum stream_kind kind);
/* Takes a closing stream off its process. */
void attach_release(struct stream *s);
/* Sends at most one chunk per channel, END and EXIT as they are due. True when something was sent; the stream may be gone after. */
bool attach_deliver(struct stream *s);
/* Sends until credit, room or the ring is at its end; the stream may be gone after. */
void attach_resume(struct stream *s);
/* The same for every stream of a process. */
void attach_deliver_all(struct process *p);

#endif
