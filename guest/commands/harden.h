/* Privileges: what the guest program keeps and what commands lose. */
#ifndef CLOCHE_HARDEN_H
#define CLOCHE_HARDEN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "commands/command.h"

/* Leaves the guest program only what it needs, and remembers its descriptor limit for commands. */
void harden_self(void);
/* Leaves the caller only these capabilities, of those that it has. False with errno. */
bool harden_keep_only(uint64_t capabilities);
/* True when commands can have a user other than the guest program's. */
bool harden_can_change_user(void);

/* For the forked child, in this order. False with errno. */
void harden_prefer_as_victim(void);

/* Lets the guest program and its builtins go first when there is too little processor for all. */
void harden_yield(void);
bool harden_limits(const struct command *c);
void harden_drop_bounding(void);
/* `shielded`: root stays the real user where the guest program is root, so that the user's commands can neither signal nor trace
 * it. Files are reached with the user's rights all the same. */
bool harden_become(uid_t uid, gid_t gid, bool shielded);
bool harden_drop_all(void);
/* All but what it takes to read a file whose owner has closed it. */
bool harden_drop_all_but_reading(void);

#endif
