#include "commands/harden.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The kernel's scheduler gives a command of this niceness a weight of 36. The guest program has 1024. */
#define COMMAND_NICE 15

#define LAST_CAPABILITY 63
#define OWN_DESCRIPTORS 65536
/* Where the sandbox has one id, which is that of the user who runs it. Descriptors on their way through sockets are counted by user, up to the sender's limit and a message of 253 more: of
 * the 1024 that a program of the user usually has, some are left. */
#define SHARED_DESCRIPTORS 640

static struct rlimit descriptor_limit;

static const int kept[] = {CAP_SETUID, CAP_SETGID,  CAP_KILL,    CAP_CHOWN, CAP_DAC_OVERRIDE,
                           CAP_FOWNER, CAP_SETPCAP, CAP_NET_BIND_SERVICE};

static uint64_t kept_mask(void) {
  uint64_t mask = 0;
  for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) mask |= UINT64_C(1) << kept[i];
  return mask;
}

static bool get_permitted(uint64_t *permitted) {
  struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
  struct __user_cap_data_struct data[2];
  if (syscall(SYS_capget, &header, data) != 0) return false;
  *permitted = (uint64_t)data[1].permitted << 32 | data[0].permitted;
  return true;
}

static bool set_capabilities(uint64_t mask) {
  struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
  struct __user_cap_data_struct data[2] = {{0}};
  for (int i = 0; i < 2; i++) data[i].effective = data[i].permitted = (uint32_t)(mask >> (32 * i));
  return syscall(SYS_capset, &header, data) == 0;
}

/* Where CAP_SETPCAP is missing this fails, and no_new_privs alone keeps a file from giving any of them. */
static void keep_bounding(uint64_t mask) {
  for (int number = 0; number <= LAST_CAPABILITY; number++) {
    if (mask >> number & 1) continue;
    /* To drop one that is not there costs as much as one that is, and a look costs nothing. */
    int present = prctl(PR_CAPBSET_READ, number, 0, 0, 0);
    /* The kernel knows fewer than there is room for. */
    if (present < 0) return;
    if (present > 0) (void)prctl(PR_CAPBSET_DROP, number, 0, 0, 0);
  }
}

void harden_self(void) {
  struct rlimit own;
  if (getrlimit(RLIMIT_NOFILE, &descriptor_limit) == 0) {
    own = descriptor_limit;
    own.rlim_cur = own.rlim_max < OWN_DESCRIPTORS ? own.rlim_max : OWN_DESCRIPTORS;
    if (own.rlim_cur > descriptor_limit.rlim_cur) (void)setrlimit(RLIMIT_NOFILE, &own);
  }
  /* SECURITY: what is not needed is not there to be abused (G-06) */
  (void)prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  keep_bounding(kept_mask());
  /* SECURITY: programs of the user keep some of what is counted for the user (G-26) */
  if (!harden_can_change_user() && descriptor_limit.rlim_max > SHARED_DESCRIPTORS) descriptor_limit.rlim_max = SHARED_DESCRIPTORS;
  uint64_t permitted;
  if (get_permitted(&permitted)) (void)set_capabilities(permitted & kept_mask());
  /* SECURITY: commands can neither ptrace this program nor read its memory (G-08) */
  prctl(PR_SET_DUMPABLE, 0);
}

bool harden_can_change_user(void) {
  uint64_t permitted;
  uint64_t needed = UINT64_C(1) << CAP_SETUID | UINT64_C(1) << CAP_SETGID;
  if (!get_permitted(&permitted) || (permitted & needed) != needed) return false;
  FILE *map = fopen("/proc/self/uid_map", "re");
  if (!map) return geteuid() == 0;
  unsigned long inside;
  unsigned long outside;
  unsigned long length;
  unsigned long total = 0;
  while (fscanf(map, "%lu %lu %lu", &inside, &outside, &length) == 3) total += length;
  fclose(map);
  return total > 1;
}

/* SECURITY: hundreds of busy commands leave the guest program enough time to end them (G-08) */
void harden_yield(void) { (void)setpriority(PRIO_PROCESS, 0, COMMAND_NICE); }

void harden_prefer_as_victim(void) {
  /* When memory runs out, the command goes before the guest program. */
  int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (fd < 0) return;
  if (write(fd, "500", 3) < 0) errno = 0;
  close(fd);
}

static bool set_limit(uint32_t resource, struct rlimit wanted) {
  struct rlimit present;
  if (getrlimit((__rlimit_resource_t)resource, &present) != 0) return false;
  if (wanted.rlim_max > present.rlim_max) wanted.rlim_max = present.rlim_max;
  if (wanted.rlim_cur > wanted.rlim_max) wanted.rlim_cur = wanted.rlim_max;
  return setrlimit((__rlimit_resource_t)resource, &wanted) == 0;
}

bool harden_limits(const struct command *c) {
  /* SECURITY: the limit is one byte, because at zero the kernel still hands the memory of a process that crashed to the host's collector, if there is one (G-17) */
  struct rlimit none = {.rlim_cur = 1, .rlim_max = 1};
  if (descriptor_limit.rlim_max > 0 && !set_limit(RLIMIT_NOFILE, descriptor_limit)) return false;
  if (!set_limit(RLIMIT_CORE, none)) return false;
  for (unsigned i = 0; i < c->rlimit_count; i++) {
    if (!set_limit(c->rlimits[i].resource, c->rlimits[i].limit)) return false;
  }
  return true;
}

void harden_drop_bounding(void) { keep_bounding(0); }

bool harden_become(uid_t uid, gid_t gid, bool shielded) {
  /* SECURITY: a builtin that commands could stop would stop file work with it (G-08). The way back to root is closed by the
   * filter, and no capability is left there (G-06) */
  uid_t outer = shielded && geteuid() == 0 ? 0 : uid;
  uid_t uids[3];
  gid_t gids[3];
  /* Where only one id is mapped, groups cannot be changed and need not be. */
  if (setgroups(0, NULL) != 0 && (uid != geteuid() || gid != getegid())) return false;
  if (setresgid(gid, gid, gid) != 0 || setresuid(outer, uid, outer) != 0) {
    /* An id that is not mapped is one that cannot be had. */
    if (errno == EINVAL) errno = EPERM;
    return false;
  }
  if (getresuid(&uids[0], &uids[1], &uids[2]) != 0 || getresgid(&gids[0], &gids[1], &gids[2]) != 0) return false;
  bool became = uids[0] == outer && uids[1] == uid && uids[2] == outer;
  for (int i = 0; i < 3; i++) became = became && gids[i] == gid;
  if (!became) errno = EPERM;
  return became;
}

bool harden_keep_only(uint64_t wanted) {
  (void)prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  uint64_t left;
  if (!get_permitted(&left) || !set_capabilities(left & wanted) || !get_permitted(&left)) return false;
  bool dropped = (left & ~wanted) == 0;
  if (!dropped) errno = EPERM;
  return dropped;
}

bool harden_drop_all(void) { return harden_keep_only(0); }

bool harden_drop_all_but_reading(void) { return harden_keep_only(UINT64_C(1) << CAP_DAC_OVERRIDE); }
