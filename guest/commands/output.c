#include "commands/output.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/bounds.h"
#include "wire/attach.h"
#include "wire/wire.h"

static uint8_t scratch[CHUNK_BYTES];

/* What a command left running still writes somewhere: into nothing, as closing the pipe would kill it. */
struct drain {
  struct watch watch;
};
static unsigned drain_count;

static void drain_ready(struct watch *w, uint32_t events) {
  (void)events;
  ssize_t count = read(w->fd, scratch, sizeof scratch);
  if (count > 0 || (count < 0 && (errno == EAGAIN || errno == EINTR))) return;
  loop_close(w);
  free(w->owner);
  drain_count--;
}

static void drain_into_nothing(int fd) {
  struct drain *d = drain_count < MAX_DRAINS ? calloc(1, sizeof *d) : NULL;
  if (!d) {
    close(fd);
    return;
  }
  d->watch = (struct watch){.fd = fd, .ready = drain_ready, .owner = d};
  drain_count++;
  if (loop_watch(&d->watch, EPOLLIN)) return;
  close(fd);
  free(d);
  drain_count--;
}

static void end_channel(struct process *p, struct channel *channel, bool others_write) {
  if (!channel->open) return;
  channel->open = false;
  if (others_write && !(p->flags & SPAWN_PTY)) {
    int fd = channel->watch.fd;
    (void)loop_watch(&channel->watch, 0);
    channel->watch.fd = -1;
    drain_into_nothing(fd);
  } else {
    loop_close(&channel->watch);
  }
  attach_deliver_all(p);
}

/* How many bytes the ring can take without losing any that somebody still waits for. */
static size_t room(const struct process *p, const struct channel *channel) {
  const struct ring *ring = &channel->ring;
  if (p->flags & SPAWN_DROP) return ring->capacity;
  int number = channel == &p->output[0] ? 1 : 2;
  uint64_t floor = UINT64_MAX;
  for (const struct stream *s = p->attached; s; s = s->next_attached) {
    if (s->kind == STREAM_PROCESS && s->offset[number] < floor) floor = s->offset[number];
  }
  /* While no connection reads, the next one may want the oldest byte. */
  if (floor == UINT64_MAX || floor < ring->start) floor = ring->start;
  uint64_t waiting = ring->end > floor ? ring->end - floor : 0;
  return ring->capacity - (size_t)waiting;
}

void output_resume(struct process *p, struct channel *channel) {
  if (!channel->open || channel->watch.fd < 0) return;
  /* Without memory for it now, there is another try after the next turn. */
  channel->stuck = !loop_watch(&channel->watch, room(p, channel) > 0 ? EPOLLIN : 0);
}

static void on_readable(struct watch *w, uint32_t events) {
  (void)events;
  struct process *p = w->owner;
  struct channel *channel = w == &p->output[0].watch ? &p->output[0] : &p->output[1];
  size_t limit = room(p, channel);
  if (limit > sizeof scratch) limit = sizeof scratch;
  if (channel->drain_left >= 0 && (uint64_t)channel->drain_left < limit) limit = (size_t)channel->drain_left;
  if (limit == 0) {
    output_resume(p, channel);
    return;
  }
  ssize_t count = read(w->fd, scratch, limit);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
  /* A terminal whose last user is gone answers EIO. */
  if (count <= 0) {
    end_channel(p, channel, false);
    return;
  }
  if (!ring_write(&channel->ring, scratch, (size_t)count)) {
    end_channel(p, channel, true);
    return;
  }
  if (channel->drain_left >= 0) channel->drain_left -= count;
  attach_deliver_all(p);
  if (channel->drain_left == 0) end_channel(p, channel, true);
  else output_resume(p, channel);
}

bool output_open(struct process *p, struct channel *channel, int fd, size_t capacity) {
  channel->watch = (struct watch){.fd = fd, .ready = on_readable, .owner = p};
  channel->ring.capacity = capacity;
  channel->open = true;
  return loop_watch(&channel->watch, EPOLLIN);
}

void output_finish(struct process *p) {
  for (int i = 0; i < 2; i++) {
    struct channel *channel = &p->output[i];
    int waiting = 0;
    if (!channel->open) continue;
    if (ioctl(channel->watch.fd, FIONREAD, &waiting) != 0 || waiting <= 0) end_channel(p, channel, true);
    else channel->drain_left = waiting;
  }
}

void output_drop(struct process *p) {
  for (int i = 0; i < 2; i++) {
    struct channel *channel = &p->output[i];
    ring_free(&channel->ring);
    end_channel(p, channel, p->exited);
  }
}
