#include "base/loop.h"

#include <errno.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "base/complain.h"

#define BATCH 64

static int epoll_fd = -1;
static struct epoll_event batch[BATCH];
static int batch_size;
static struct timer *timers;
static bool stopping;
static int stop_code;

int64_t clock_us(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

bool loop_open(void) {
  epoll_fd = epoll_create1(EPOLL_CLOEXEC);
  return epoll_fd >= 0;
}

bool loop_watch(struct watch *w, uint32_t events) {
  if (w->fd < 0) return false;
  if (w->events == events) return true;
  /* A hang-up is reported even when nothing is asked for, so "nothing" has to mean removal. */
  int operation = events == 0 ? EPOLL_CTL_DEL : w->events == 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;
  struct epoll_event event = {.events = events, .data.ptr = w};
  if (epoll_ctl(epoll_fd, operation, w->fd, &event) != 0) return false;
  w->events = events;
  if (events == 0) {
    for (int i = 0; i < batch_size; i++) {
      if (batch[i].data.ptr == w) batch[i].data.ptr = NULL;
    }
  }
  return true;
}

void loop_close(struct watch *w) {
  if (w->fd < 0) return;
  (void)loop_watch(w, 0);
  close(w->fd);
  w->fd = -1;
}

void timer_set(struct timer *t, int64_t delay_ms) {
  t->due_us = clock_us() + delay_ms * 1000;
  if (t->armed) return;
  t->armed = true;
  t->next = timers;
  timers = t;
}

void timer_clear(struct timer *t) {
  if (!t->armed) return;
  t->armed = false;
  for (struct timer **at = &timers; *at; at = &(*at)->next) {
    if (*at == t) {
      *at = t->next;
      return;
    }
  }
}

static struct timer *earliest(void) {
  struct timer *first = timers;
  for (struct timer *t = timers; t; t = t->next) {
    if (t->due_us < first->due_us) first = t;
  }
  return first;
}

static int wait_ms(void) {
  struct timer *first = earliest();
  if (!first) return -1;
  int64_t left = first->due_us - clock_us();
  if (left <= 0) return 0;
  int64_t ms = (left + 999) / 1000;
  return ms > 60000 ? 60000 : (int)ms;
}

static void fire_timers(void) {
  if (!timers) return;
  int64_t now = clock_us();
  for (struct timer *t; (t = earliest()) && t->due_us <= now;) {
    timer_clear(t);
    t->fire(t);
  }
}

int loop_run(void (*after_turn)(void)) {
  while (!stopping) {
    int count = epoll_wait(epoll_fd, batch, BATCH, wait_ms());
    if (count < 0 && errno != EINTR) {
      complain("Cannot wait for events: error %d", errno);
      return 1;
    }
    batch_size = count < 0 ? 0 : count;
    for (int i = 0; i < batch_size; i++) {
      struct watch *w = batch[i].data.ptr;
      if (w) w->ready(w, batch[i].events);
    }
    batch_size = 0;
    fire_timers();
    after_turn();
  }
  return stop_code;
}

void loop_stop(int code) {
  stopping = true;
  stop_code = code;
}
