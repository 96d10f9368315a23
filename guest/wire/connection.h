/* One host on one byte stream: framing, the handshake, the streams on it and what waits to be sent. */
#ifndef CLOCHE_CONNECTION_H
#define CLOCHE_CONNECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/loop.h"

struct process;
struct relay;
struct door;

enum stream_kind { STREAM_PROCESS, STREAM_WATCH, STREAM_FORGET, STREAM_SWEEP, STREAM_RELAY, STREAM_DOOR };

struct stream {
  struct connection *connection;
  struct stream *next;
  uint32_t id;
  enum stream_kind kind;
  struct process *process;      /* PROCESS, WATCH, FORGET and SWEEP */
  struct stream *next_attached; /* in the process's list */
  struct relay *relay;
  struct door *door;
  bool started;           /* STARTED was sent */
  uint64_t offset[3];     /* the next byte to send, by channel */
  uint64_t credit[3];     /* by channel: [0] what the host may send, [1] and [2] what it wants */
  bool ended[3];
};

struct connection {
  struct connection *next;
  struct watch in;
  struct watch out; /* a duplicate of `in` when both are one descriptor, so that each can be waited for alone */
  struct buffer received;
  struct buffer outgoing;
  struct stream *streams;
  unsigned stream_count;
  bool greeted;
  bool closing; /* closes once `outgoing` is sent */
  bool doomed;  /* closes at the end of this turn */
  bool last;    /* the program ends with it; there is no other one */
  void (*ended)(void *); /* NULL: nobody is to be told; one that is a serial port tells */
  void *owner;
};

/* Takes over both descriptors (which may be the same one); false, with both closed, when it cannot. */
bool connection_open(int in_fd, int out_fd, bool last);
/* The same for one descriptor from which some bytes have been read already; tells when it has ended. */
bool connection_open_told(int fd, const void *bytes, size_t count, void (*ended)(void *), void *owner);
/* Sends what waits and closes what has to go; after every turn. */
void connections_settle(void);

/* Queues a frame. A failure dooms the connection, so nobody needs to look at a result. */
void send_frame(struct connection *c, uint8_t type, uint32_t stream, const void *head, size_t head_size, const void *body,
                size_t body_size);
void send_ok(struct stream *s);
void send_credit(struct stream *s, uint32_t more);
void send_error(struct connection *c, uint32_t stream, int error, const char *message);
/* True while there is room for DATA. */
bool connection_has_room(const struct connection *c);
/* Forgets everything that the last host on it has begun. */
void connection_restart(struct connection *c);
/* Gives its descriptor away; the connection is over. */
int connection_release(struct connection *c);
/* A breach of the protocol: the connection goes, and nothing else. */
void connection_doom(struct connection *c);

/* NULL when there are too many or there is no memory; an ERROR was sent then. */
struct stream *stream_open(struct connection *c, uint32_t id, enum stream_kind kind);
struct stream *stream_find(struct connection *c, uint32_t id);
/* On any connection: the numbers of streams that the guest opens are unique. */
struct stream *stream_find_anywhere(uint32_t id);
/* Frees the stream and what hangs on it; sends nothing. */
void stream_close(struct stream *s);

#endif
