/* The table of processes: everything that runs or has run, by id. */
#ifndef CLOCHE_PROCESS_H
#define CLOCHE_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buffer.h"
#include "base/loop.h"
#include "base/ring.h"
#include "wire/connection.h"

struct channel {
  struct watch watch;
  struct ring ring;
  bool open;          /* END has not been reached */
  bool stuck;         /* could not be waited for */
  int64_t drain_left; /* bytes to take before END once the command is gone; -1: until end of file */
};

enum ending { ENDING_NO, ENDING_TERM, ENDING_KILL };

struct process {
  struct process *next;
  uint32_t id;
  uint32_t flags; /* of SPAWN */
  char *tag;
  pid_t shim; /* what we forked: the shim above a command, or a builtin itself; 0 once it was reaped */
  pid_t pid;  /* of the command; 0 when there never was one */
  struct watch status;
  struct channel output[2];
  struct watch input;
  struct buffer input_bytes;
  bool input_ended; /* no more will come; closes once `input_bytes` is written */
  struct stream *attached;

  int64_t started_us;
  int64_t ran_us;
  uint32_t grace_ms;
  enum ending ending;
  int kill_rounds;
  bool given_up; /* so many rounds of SIGKILL did not end all below it */
  struct timer timer;  /* time-out, grace, rounds of SIGKILL */
  struct timer linger; /* from the exit to END */

  int early_signal; /* came before the command was there */
  int early_scope;
  bool known;      /* the pid is known or there will be none: STARTED can be sent */
  bool reaped;     /* the command itself has ended; kind and code are set */
  bool exited;     /* nothing more can happen but END */
  bool delivered;  /* somebody got EXIT */
  bool forgotten;  /* FORGET came: goes as soon as it can */
  uint8_t kind;
  uint8_t exit_flags;
  int32_t code;
  char message[256];
};

/* NULL when the table is full or there is no memory. */
struct process *process_new(void);
/* Takes back one that never started anything. */
void process_discard(struct process *p);
struct process *process_find(uint32_t id);
struct process *process_find_shim(pid_t shim);
/* Answers PROCESSES. */
void process_list(struct connection *c, uint32_t stream);
/* True when EXIT can be sent: it is over and both channels have ended. */
bool process_over(const struct process *p);
/* Removes what is over and was delivered or forgotten; after every turn. */
void processes_settle(void);

#endif
