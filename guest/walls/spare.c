#include "walls/spare.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/descriptors.h"
#include "base/launcher.h"
#include "init/loopback.h"
#include "walls/devices.h"
#include "walls/idmap.h"
#include "walls/mapped_tree.h"
#include "walls/namespace_limits.h"
#include "walls/own_ids.h"
#include "walls/stage.h"

#define CHANNEL_FD 3

struct spare *spare_given;

struct spare_options {
  const char *guest;
  struct id_map map;
  struct own_ids ids;
};

static void read_options(char **argv, struct spare_options *o) {
  for (char **at = argv + 1; *at;) {
    int taken = id_map_option(&o->map, at);
    if (taken == 0 && at[1] && strcmp(*at, "--guest") == 0) {
      o->guest = at[1];
      taken = 2;
    } else if (taken == 0 && at[1] && own_ids_option(&o->ids, at[0], at[1])) {
      taken = 2;
    }
    if (taken == 0) fail_usage("unknown option");
    at += taken;
  }
  if (!o->guest || !id_map_given(&o->map)) fail_usage("missing option");
}

static int open_namespace(const char *path) {
  int namespace = open(path, O_RDONLY | O_CLOEXEC);
  if (namespace < 0) fail("cannot open %s", path);
  return namespace;
}

/* As the launcher takes them where there is no spare. */
static void take_ids(struct spare_options *o, struct spare *spare) {
  pid_t holder;
  if (o->map.shift_count == 0 || o->ids.ranges == 0 || !mapping_supported()) return;
  spare->own_ids = own_ids_take(&o->ids, o->map.shift_count);
  spare->parts[SPARE_LOCK] = o->ids.lock;
  spare->parts[SPARE_MAPPING] = mapping_open(o->map.shift_base, spare->own_ids, o->map.shift_count, &holder);
  o->map.shift_base = spare->own_ids;
  if (waitpid(holder, NULL, 0) < 0) fail("cannot wait");
}

static int make_stage(int guest) {
  stage_make();
  stage_copy_guest(guest);
  devices_mount();
  int stage = open_tree(AT_FDCWD, STAGE, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE);
  if (stage < 0) fail("cannot keep the stage");
  return stage;
}

static void nothing_to_open(void *argument) { (void)argument; }

int spare_main(int argc, char **argv) {
  (void)argc;
  struct spare_options o = {.ids = {.lock = -1}};
  read_options(argv, &o);
  struct spare spare = {.own_ids = 0};
  spare.parts[SPARE_LOCK] = spare.parts[SPARE_MAPPING] = open_path("/dev/null"); /* there are always as many */
  int guest = open(o.guest, O_RDONLY | O_CLOEXEC);
  if (guest < 0) fail("cannot open %s", o.guest);
  take_ids(&o, &spare);
  id_map_enter(&o.map, CLONE_NEWNS, nothing_to_open, NULL);
  const char *unlimited = namespace_limits_set();
  if (unlimited) fail("cannot set %s", unlimited);
  spare.parts[SPARE_USERS] = open_namespace("/proc/self/ns/user");
  spare.parts[SPARE_STAGE] = make_stage(guest);
  /* SECURITY: the network is made in the user namespace that owns it, with nothing in it but a loopback interface (G-03) */
  if (unshare(CLONE_NEWNET) < 0) fail("cannot make a network");
  loopback_up();
  spare.parts[SPARE_NETWORK] = open_namespace("/proc/self/ns/net");
  if (!descriptors_send(CHANNEL_FD, &spare.own_ids, sizeof spare.own_ids, spare.parts, sizeof spare.parts / sizeof *spare.parts, 0))
    fail("cannot hand a spare over");
  return 0;
}

bool spare_receive(int channel, struct spare *spare) {
  union {
    char bytes[CMSG_SPACE(sizeof spare->parts)];
    struct cmsghdr align;
  } control;
  struct iovec data = {.iov_base = &spare->own_ids, .iov_len = sizeof spare->own_ids};
  struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes};
  ssize_t taken = recvmsg(channel, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
  struct cmsghdr *head = taken > 0 ? CMSG_FIRSTHDR(&message) : NULL;
  if (taken != (ssize_t)sizeof spare->own_ids || !head || head->cmsg_len != CMSG_LEN(sizeof spare->parts)) return false;
  memcpy(spare->parts, CMSG_DATA(head), sizeof spare->parts);
  return true;
}

void spare_close(struct spare *spare) {
  for (size_t i = 0; i < SPARE_PARTS; i++) close(spare->parts[i]);
}
