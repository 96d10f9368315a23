/*
 * The porter of a gate: a process beside it that holds listening sockets of the sandbox's doors. Guest programs lend them (LEND in docs/guest-protocol.md). The porter accepts what
 * connects and hands each connection to the gate, on the channel between the gate and its keeper. So bytes go from a command to the gate through the kernel alone.
 *
 * Whoever has lent a socket holds it still, and may make it block, or accept from it meanwhile. So no gate accepts from one, and no keeper. An accepted socket
 * is nobody's but the gate's.
 *
 * Where there is no porter, or it ends, guest programs accept for themselves and relay.
 */
#include "host_programs/gate_porter.h"

#include <errno.h>
#include <grp.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/descriptors.h"
#include "commands/harden.h"
#include "commands/seccomp.h"
#include "host_programs/gate_user.h"
#include "wire/frame.h"
#include "wire/wire.h"

#define FIRST_FD 3
#define ORDERS 3  /* from the keeper */
#define CHANNEL 4 /* to the gate */
#define MAX_LENT 32
#define PORT_BITS 16
#define MOST_WAITING (192 * 1024) /* in each direction; the kernel doubles it for its own use */
#define PATIENCE_US 50000
#define PAUSE_MS 100

struct lent {
  uint32_t door;
  int guest;
  int socket; /* -1 until it has come */
};

static pid_t porter = -1;
static pid_t ending = -1; /* the one before */
static int orders = -1; /* to the porter */
static struct lent lent[MAX_LENT];
static size_t lent_count;

/* The descriptor that comes with exactly that many bytes; -1 when there is none. The kernel drops all but one: there is room for no more. */
static int receive_with(int from, void *bytes, size_t count) {
  union {
    struct cmsghdr head;
    char room[CMSG_SPACE(sizeof(int))];
  } control = {0};
  struct iovec part = {.iov_base = bytes, .iov_len = count};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control.room, .msg_controllen = CMSG_LEN(sizeof(int))};
  errno = 0;
  ssize_t got = recvmsg(from, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  struct cmsghdr *head = got < 0 ? NULL : CMSG_FIRSTHDR(&message);
  int fd = -1;
  if (head && head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_RIGHTS && head->cmsg_len == CMSG_LEN(sizeof fd))
    memcpy(&fd, CMSG_DATA(head), sizeof fd);
  if (fd >= 0 && got != (ssize_t)count) {
    close(fd);
    fd = -1;
  }
  return fd;
}

static int option_of(int fd, int name) {
  int value = -1;
  socklen_t size = sizeof value;
  return getsockopt(fd, SOL_SOCKET, name, &value, &size) == 0 ? value : -1;
}

/* SECURITY: what a guest program gives in a door's place is a door, or nothing is done with it: nobody reads from it, or looks at it by a name (G-191) */
static bool is_door(int fd) {
  return option_of(fd, SO_DOMAIN) == AF_INET && option_of(fd, SO_TYPE) == SOCK_STREAM && option_of(fd, SO_PROTOCOL) == IPPROTO_TCP &&
         option_of(fd, SO_ACCEPTCONN) == 1;
}

/*
 * SECURITY: a connection begins with what its listening socket was set to. What could hold the gate up does not stay: a close that waits, and reports that wake whoever does
 * not read them. What waits in the kernel is the host's memory and not the sandbox's: it is bounded (G-191)
 */
static void settle(int fd) {
  int on = 1;
  int off = 0;
  int most = MOST_WAITING;
  struct linger none = {0};
  (void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &none, sizeof none);
  (void)setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPING, &off, sizeof off);
  (void)setsockopt(fd, IPPROTO_IP, IP_RECVERR, &off, sizeof off);
  (void)setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &most, sizeof most);
  (void)setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &most, sizeof most);
  (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

static void give_back(size_t at) {
  close(lent[at].guest);
  if (lent[at].socket >= 0) close(lent[at].socket);
  lent[at] = lent[--lent_count];
}

static void give_back_all(void) {
  while (lent_count > 0) give_back(lent_count - 1);
}

/* Asks for what the keeper says; false when there is no keeper. */
static bool take_order(void) {
  uint32_t door;
  int guest = receive_with(ORDERS, &door, sizeof door);
  if (guest < 0) return errno == EAGAIN || errno == EINTR;
  if (lent_count > 0 && lent[0].door >> PORT_BITS != door >> PORT_BITS) give_back_all();
  uint8_t frame[WIRE_HEADER + 8];
  uint8_t *at = put_u32(put_u8(put_u32(frame, WIRE_PREFIX + 8), HOST_LEND), 0);
  put_u16(put_u16(put_u32(at, WIRE_MAGIC), WIRE_VERSION), (uint16_t)door);
  bool asked = lent_count < MAX_LENT && send(guest, frame, sizeof frame, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)sizeof frame;
  if (asked) lent[lent_count++] = (struct lent){.door = door, .guest = guest, .socket = -1};
  else close(guest);
  return true;
}

/* The one answer of a guest program; whatever comes after it is its end. False when there is nothing to hold any more. */
static bool take_socket(struct lent *from) {
  uint8_t answer[WIRE_HEADER];
  if (from->socket >= 0) return false;
  from->socket = receive_with(from->guest, answer, sizeof answer);
  return from->socket >= 0 && is_door(from->socket);
}

/* SECURITY: whoever has lent a socket can make it block at any moment: then a signal comes, and nothing waits for long (G-191) */
static int accept_soon(int socket) {
  struct timeval soon = {.tv_usec = PATIENCE_US};
  struct itimerval repeatedly = {.it_interval = soon, .it_value = soon};
  struct itimerval never = {0};
  (void)setitimer(ITIMER_REAL, &repeatedly, NULL);
  int fd = accept4(socket, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
  int error = errno;
  (void)setitimer(ITIMER_REAL, &never, NULL);
  errno = error;
  return fd;
}

/* The channel is writable while a quarter of it is full at most: the keeper's own answers have room, however many connections there are. */
static bool wait_for_gate(void) {
  struct pollfd waited[] = {{.fd = CHANNEL, .events = POLLOUT}, {.fd = ORDERS, .events = 0}};
  while (poll(waited, 2, -1) < 0) {
    if (errno != EINTR) return false;
  }
  return waited[0].revents == POLLOUT;
}

/* False when nobody can connect there any more. */
static bool let_in(const struct lent *at) {
  char text[96];
  int fd = accept_soon(at->socket);
  if (fd < 0) {
    if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS) (void)poll(NULL, 0, PAUSE_MS);
    else if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED) return false;
    return true;
  }
  settle(fd);
  int size = snprintf(text, sizeof text, "{\"cmd\":\"NODE_HANDLE\",\"type\":\"net.Socket\",\"msg\":{\"door\":%lu}}\n", (unsigned long)at->door);
  (void)descriptors_send(CHANNEL, text, (size_t)size, &fd, 1, MSG_DONTWAIT);
  close(fd);
  return true;
}

static void serve(void) {
  struct pollfd waited[1 + 2 * MAX_LENT] = {{.fd = ORDERS, .events = POLLIN}};
  for (;;) {
    size_t count = lent_count;
    for (size_t i = 0; i < count; i++) {
      waited[1 + 2 * i] = (struct pollfd){.fd = lent[i].guest, .events = POLLIN};
      waited[2 + 2 * i] = (struct pollfd){.fd = lent[i].socket, .events = POLLIN};
    }
    if (poll(waited, 1 + 2 * count, -1) < 0 && errno != EINTR) return;
    /* From the last one: what is given back is replaced by one that has had its turn. */
    for (size_t i = count; i-- > 0;) {
      bool stays = !waited[1 + 2 * i].revents || take_socket(&lent[i]);
      if (stays && waited[2 + 2 * i].revents) {
        if (!wait_for_gate()) return;
        stays = let_in(&lent[i]);
      }
      if (!stays) give_back(i);
    }
    if (waited[0].revents && !take_order()) return;
  }
}

static void on_alarm(int number) { (void)number; }

/* SECURITY: it is the gate's user where root's gate has one of its own, and can do nothing but what it has descriptors for (G-42) */
static bool lose_rights(pid_t keeper) {
  uid_t own = GATE_FIRST_USER + (uid_t)keeper;
  if (geteuid() == 0 && (setgroups(0, NULL) != 0 || setresgid(own, own, own) != 0 || setresuid(own, own, own) != 0)) return false;
  return harden_drop_all() && prctl(PR_SET_DUMPABLE, 0) == 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && seccomp_install(SECCOMP_COMMAND);
}

/* Does not return. */
static void become_porter(pid_t keeper, int from_keeper, int channel) {
  const int kept[] = {from_keeper, channel};
  struct sigaction alarm = {.sa_handler = on_alarm};
  if (!descriptors_keep(kept, 2, FIRST_FD) || !lose_rights(keeper)) _exit(125);
  /* After its user has changed: that would undo it. */
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != keeper) _exit(125);
  if (sigaction(SIGALRM, &alarm, NULL) != 0) _exit(125);
  prctl(PR_SET_NAME, "cloche-porter");
  serve();
  _exit(0);
}

static bool start_porter(int channel) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return false;
  pid_t keeper = getpid();
  porter = fork();
  if (porter == 0) become_porter(keeper, ends[1], channel);
  int error = errno;
  close(ends[1]);
  if (porter > 0) {
    orders = ends[0];
    return true;
  }
  close(ends[0]);
  errno = error;
  return false;
}

bool gate_porter_lend(int guest, uint32_t door, int channel) {
  bool sent = (porter > 0 || start_porter(channel)) && descriptors_send(orders, &door, sizeof door, &guest, 1, MSG_DONTWAIT);
  int error = errno;
  close(guest);
  errno = error;
  return sent;
}

static void forget(void) {
  porter = -1;
  if (orders >= 0) close(orders);
  orders = -1;
}

void gate_porter_reap(void) {
  if (ending > 0 && waitpid(ending, NULL, WNOHANG) == ending) ending = -1;
  if (porter > 0 && waitpid(porter, NULL, WNOHANG) == porter) forget();
}

/* It is not waited for: a guest program may have given it what takes long to close. */
void gate_porter_end(void) {
  if (porter <= 0) return;
  (void)kill(porter, SIGKILL);
  ending = porter;
  forget();
}
