/* The event loop: descriptors, timers and one hook after every turn. */
#ifndef CLOCHE_LOOP_H
#define CLOCHE_LOOP_H

#include <stdbool.h>
#include <stdint.h>

struct watch {
  int fd; /* -1: none */
  uint32_t events;
  void (*ready)(struct watch *, uint32_t events);
  void *owner;
};

struct timer {
  int64_t due_us;
  bool armed;
  void (*fire)(struct timer *);
  void *owner;
  struct timer *next;
};

int64_t clock_us(void);

bool loop_open(void);
/* Sets what to wait for; 0 stops, after which not even an event of the present turn arrives. */
bool loop_watch(struct watch *w, uint32_t events);
/* Stops waiting and closes the descriptor. */
void loop_close(struct watch *w);
void timer_set(struct timer *t, int64_t delay_ms);
void timer_clear(struct timer *t);
/* Runs until loop_stop(); `after_turn` is called after each round of events. Returns the code given there. */
int loop_run(void (*after_turn)(void));
void loop_stop(int code);

#endif
