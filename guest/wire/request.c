#include "wire/request.h"

#include <stdlib.h>

#include "base/bounds.h"
#include "wire/wire.h"

static void read_rlimits(struct reader *r, struct command *c) {
  uint32_t count = read_u32(r);
  if (count > MAX_RLIMITS) r->bad = true;
  for (uint32_t i = 0; i < count && !r->bad; i++) {
    c->rlimits[i].resource = read_u32(r);
    c->rlimits[i].limit.rlim_cur = read_u64(r);
    c->rlimits[i].limit.rlim_max = read_u64(r);
    c->rlimit_count++;
  }
}

bool request_read(struct reader *r, struct request *q) {
  q->flags = read_u32(r);
  q->command.uid = read_u32(r);
  q->command.gid = read_u32(r);
  q->timeout_ms = read_u32(r);
  q->grace_ms = read_u32(r);
  q->cols = read_u16(r);
  q->rows = read_u16(r);
  q->ring_bytes = read_u32(r);
  q->credit = read_u32(r);
  q->tag = read_string(r, MAX_TAG_BYTES);
  q->command.cwd = read_string(r, SIZE_MAX);
  q->argv = read_strings(r, MAX_ARGUMENTS);
  q->env = read_strings(r, MAX_ARGUMENTS);
  read_rlimits(r, &q->command);
  if (!read_finished(r) || !q->argv[0] || q->ring_bytes > RING_MAX || q->flags > SPAWN_FLAGS) return false;
  q->command.argv = q->argv;
  q->command.env = q->env;
  q->command.builtin = q->flags & SPAWN_BUILTIN;
  q->command.terminal = q->flags & SPAWN_PTY;
  return true;
}

void request_free(struct request *q) {
  free(q->argv);
  free(q->env);
}
