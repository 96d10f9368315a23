#include "wire/conduit.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/bounds.h"
#include "base/buffer.h"
#include "base/loop.h"

struct end {
  struct watch watch;
  struct buffer waiting; /* what the other end has said and this one did not take yet */
  bool ended;            /* it says no more */
  bool shut;             /* it was told that the other one says no more */
};

struct conduit {
  struct end ends[2];
};

static unsigned conduit_count;

static void close_conduit(struct conduit *c) {
  for (int i = 0; i < 2; i++) {
    loop_close(&c->ends[i].watch);
    buffer_free(&c->ends[i].waiting);
  }
  free(c);
  conduit_count--;
}

/* As much as is taken; -1 when it is broken. */
static ssize_t give(struct end *to, const uint8_t *bytes, size_t count) {
  ssize_t sent = send(to->watch.fd, bytes, count, MSG_NOSIGNAL);
  return sent < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : sent;
}

/* False when it is broken. */
static bool give_waiting(struct end *to) {
  ssize_t sent = give(to, buffer_bytes(&to->waiting), buffer_size(&to->waiting));
  if (sent > 0) buffer_consume(&to->waiting, (size_t)sent);
  return sent >= 0;
}

/* Reads only while the other end takes what comes, so that no more than one read of either waits here. False when one is broken. */
static bool carry(struct end *from, struct end *to) {
  static uint8_t scratch[CONDUIT_BYTES];
  if (from->ended || buffer_size(&to->waiting) > 0) return true;
  ssize_t count = recv(from->watch.fd, scratch, sizeof scratch, 0);
  if (count < 0) return errno == EAGAIN || errno == EINTR;
  from->ended = count == 0;
  ssize_t sent = count == 0 ? 0 : give(to, scratch, (size_t)count);
  return sent >= 0 && buffer_append(&to->waiting, scratch + sent, (size_t)(count - sent));
}

/* Waits for what can be done now; false when there is nothing left to carry, or waiting is impossible. */
static bool rearm(struct conduit *c) {
  for (int i = 0; i < 2; i++) {
    struct end *end = &c->ends[i];
    struct end *other = &c->ends[1 - i];
    if (other->ended && !end->shut && buffer_size(&end->waiting) == 0) {
      (void)shutdown(end->watch.fd, SHUT_WR);
      end->shut = true;
    }
    uint32_t events = buffer_size(&end->waiting) > 0 ? EPOLLOUT : 0;
    if (!end->ended && buffer_size(&other->waiting) == 0) events |= EPOLLIN;
    if (!loop_watch(&end->watch, events)) return false;
  }
  return !c->ends[0].shut || !c->ends[1].shut;
}

static void on_ready(struct watch *w, uint32_t events) {
  struct conduit *c = w->owner;
  struct end *end = w == &c->ends[0].watch ? &c->ends[0] : &c->ends[1];
  struct end *other = end == &c->ends[0] ? &c->ends[1] : &c->ends[0];
  bool works = !(events & EPOLLERR) && (!(events & EPOLLOUT) || give_waiting(end));
  if (works && events & (EPOLLIN | EPOLLHUP)) works = carry(end, other);
  if (!works || !rearm(c)) close_conduit(c);
}

bool conduit_open(int host, int socket, const void *bytes, size_t count) {
  struct conduit *c = conduit_count < MAX_CONDUITS ? calloc(1, sizeof *c) : NULL;
  if (!c) {
    close(host);
    close(socket);
    return false;
  }
  conduit_count++;
  c->ends[0].watch = (struct watch){.fd = host, .ready = on_ready, .owner = c};
  c->ends[1].watch = (struct watch){.fd = socket, .ready = on_ready, .owner = c};
  if (buffer_append(&c->ends[1].waiting, bytes, count) && rearm(c)) return true;
  close_conduit(c);
  return false;
}
