/* Ids of the host for one sandbox alone, among those that belong to nobody. */
#ifndef CLOCHE_OWN_IDS_H
#define CLOCHE_OWN_IDS_H

#include <stdbool.h>

struct own_ids {
  unsigned long first; /* of the first range */
  unsigned long ranges;
  int lock; /* held for as long as a process has it open, in whatever sandbox; -1: none taken */
};

/* Takes `--own-ids FIRST:RANGES`; false when it is another option. */
bool own_ids_option(struct own_ids *ids, const char *name, const char *value);
/* Takes a range of `count` ids that no other sandbox of this host has, for as long as the lock is open. Its first id. */
unsigned long own_ids_take(struct own_ids *ids, unsigned long count);

#endif
