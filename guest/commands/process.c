#include "commands/process.h"

#include <stdlib.h>
#include <string.h>

#include "base/bounds.h"
#include "commands/output.h"
#include "wire/attach.h"
#include "wire/frame.h"
#include "wire/wire.h"

static struct process *processes; /* newest first */
static unsigned process_count;
static uint32_t last_id;

bool process_over(const struct process *p) { return p->exited && !p->output[0].open && !p->output[1].open; }

static void process_free(struct process *p) {
  timer_clear(&p->timer);
  timer_clear(&p->linger);
  loop_close(&p->status);
  loop_close(&p->input);
  for (int i = 0; i < 2; i++) {
    loop_close(&p->output[i].watch);
    ring_free(&p->output[i].ring);
  }
  buffer_free(&p->input_bytes);
  free(p->tag);
  free(p);
}

void process_discard(struct process *gone) {
  for (struct process **at = &processes; *at; at = &(*at)->next) {
    if (*at == gone) {
      *at = gone->next;
      process_count--;
      process_free(gone);
      return;
    }
  }
}

/* A host that died leaves processes behind whose EXIT nobody asked for; the oldest of them gives its place. */
static void make_place(void) {
  struct process *oldest = NULL;
  for (struct process *p = processes; p; p = p->next) {
    if (process_over(p) && !p->attached && !(p->flags & SPAWN_KEEP)) oldest = p;
  }
  if (oldest) process_discard(oldest);
}

struct process *process_new(void) {
  if (process_count >= MAX_PROCESSES) make_place();
  struct process *p = process_count < MAX_PROCESSES ? calloc(1, sizeof *p) : NULL;
  if (!p) return NULL;
  do {
    if (++last_id == 0) last_id = 1;
  } while (process_find(last_id));
  p->id = last_id;
  p->status.fd = p->input.fd = p->output[0].watch.fd = p->output[1].watch.fd = -1;
  p->output[0].drain_left = p->output[1].drain_left = -1;
  p->next = processes;
  processes = p;
  process_count++;
  return p;
}

struct process *process_find(uint32_t id) {
  for (struct process *p = processes; p; p = p->next) {
    if (p->id == id) return p;
  }
  return NULL;
}

struct process *process_find_shim(pid_t shim) {
  for (struct process *p = processes; p; p = p->next) {
    if (p->shim == shim) return p;
  }
  return NULL;
}

static uint8_t *describe(const struct process *p, uint8_t *at) {
  at = put_u32(put_u32(at, p->id), (uint32_t)p->pid);
  at = put_u8(put_u8(put_u8(at, p->exited), p->exit_flags), p->kind);
  at = put_u32(at, (uint32_t)p->code);
  for (int i = 0; i < 2; i++) at = put_u64(put_u64(at, p->output[i].ring.start), p->output[i].ring.end);
  size_t length = strlen(p->tag);
  at = put_u32(at, (uint32_t)length);
  memcpy(at, p->tag, length);
  return at + length;
}

void process_list(struct connection *c, uint32_t stream) {
  static uint8_t payload[WIRE_MAX_PAYLOAD];
  const size_t largest = 64 + MAX_TAG_BYTES;
  uint8_t *at = payload + 4;
  uint32_t count = 0;
  for (struct process *p = processes; p; p = p->next) {
    if (p->forgotten) continue;
    if ((size_t)(at - payload) + largest > sizeof payload) {
      put_u32(payload, count);
      send_frame(c, GUEST_PROCESS_LIST, stream, payload, (size_t)(at - payload), NULL, 0);
      at = payload + 4;
      count = 0;
    }
    at = describe(p, at);
    count++;
  }
  put_u32(payload, count);
  send_frame(c, GUEST_PROCESS_LIST, stream, payload, (size_t)(at - payload), NULL, 0);
  send_frame(c, GUEST_OK, stream, NULL, 0, NULL, 0);
}

void processes_settle(void) {
  struct process *next;
  for (struct process *p = processes; p; p = next) {
    next = p->next;
    for (int i = 0; i < 2; i++) {
      if (p->output[i].stuck) output_resume(p, &p->output[i]);
    }
    if (p->shim == 0 || p->given_up) attach_answer_waiters(p, STREAM_SWEEP);
    if (!process_over(p)) continue;
    if (p->forgotten) attach_answer_waiters(p, STREAM_FORGET);
    bool goes = p->forgotten || (p->delivered && !(p->flags & SPAWN_KEEP));
    if (goes && !p->attached) process_discard(p);
  }
}
