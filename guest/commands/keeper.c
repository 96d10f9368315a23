/*
 * All commands of a sandbox have one user, so the kernel lets one read another's environment and memory, by /proc, ptrace and their like. For a process of
 * another user namespace it asks for a capability in that namespace, which only the namespace's root and its owner have. Here the owner is the sandbox's
 * root, nobody in the namespace keeps a capability, and ids mean in it what they mean in the sandbox: so files and signals are as for any other command.
 */
#include "commands/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/descriptors.h"
#include "commands/commands_cgroup.h"
#include "commands/harden.h"
#include "commands/seccomp.h"
#include "commands/shim.h"
#include "wire/request.h"
#include "wire/wire.h"

#define PASSED 4 /* stdin, stdout, stderr and the status pipe */

union control {
  struct cmsghdr head;
  char space[CMSG_SPACE(sizeof(int) * PASSED)];
};

/* For each id map of this namespace, its file and one that maps every id to itself. */
static struct id_file {
  const char *name;
  char same[1024];
} id_files[] = {{.name = "uid_map"}, {.name = "gid_map"}};

static int keeper = -1; /* the guest program's end */
static int guest_program = -1;
static pid_t guest_pid;

static bool read_map(struct id_file *file) {
  char path[64];
  unsigned long inside, outside, length;
  size_t used = 0;
  snprintf(path, sizeof path, "/proc/self/%s", file->name);
  FILE *map = fopen(path, "re");
  if (!map) return false;
  while (used < sizeof file->same && fscanf(map, "%lu %lu %lu", &inside, &outside, &length) == 3)
    used += (size_t)snprintf(file->same + used, sizeof file->same - used, "%lu %lu %lu\n", inside, inside, length);
  fclose(map);
  return used > 0 && used < sizeof file->same;
}

static bool write_map(pid_t pid, const struct id_file *file) {
  char path[64];
  ssize_t length = (ssize_t)strlen(file->same);
  snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, file->name);
  int fd = open(path, O_WRONLY | O_CLOEXEC);
  bool written = fd >= 0 && write(fd, file->same, (size_t)length) == length;
  int error = errno;
  if (fd >= 0) close(fd);
  errno = error;
  return written;
}

static bool transfer(ssize_t (*call)(int, void *, size_t), int fd, void *bytes, size_t count) {
  while (count > 0) {
    ssize_t moved = call(fd, bytes, count);
    if (moved < 0 && errno == EINTR) continue;
    if (moved <= 0) return false;
    bytes = (uint8_t *)bytes + moved;
    count -= (size_t)moved;
  }
  return true;
}

static ssize_t give(int fd, void *bytes, size_t count) { return send(fd, bytes, count, MSG_NOSIGNAL); }

static void become_shim(const struct command *command, int status_fd, int go_ahead) {
  char byte;
  /* Until the ids are mapped this process has no user. It waits here, because the keeper has to know its pid to map them. */
  if (read(go_ahead, &byte, 1) != 1) _exit(1);
  /* SECURITY: the keeper may make one kind of namespace, and its commands may make none (G-06) */
  if (!seccomp_install(SECCOMP_COMMAND)) {
    shim_send(status_fd, SHIM_FAILED, errno, "Cannot install the system call filter");
    _exit(1);
  }
  shim_main(command, status_fd, guest_pid);
}

/* SECURITY: no other command can read the secrets of this one from its environment or memory, also none that has secrets of its own (G-17) */
static pid_t start_apart(const struct command *command, int status_fd) {
  int go_ahead[2];
  if (pipe2(go_ahead, O_CLOEXEC) != 0) return -1;
  /* A child of the guest program, not of the keeper: it is waited for there. */
  pid_t pid = (pid_t)syscall(SYS_clone, KEEPER_CLONE, 0, 0, 0, 0);
  if (pid == 0) {
    close(go_ahead[1]);
    become_shim(command, status_fd, go_ahead[0]);
  }
  int error = errno;
  close(go_ahead[0]);
  bool mapped = pid > 0;
  for (size_t i = 0; mapped && i < sizeof id_files / sizeof *id_files; i++) mapped = write_map(pid, &id_files[i]);
  if (pid > 0 && !mapped) error = errno;
  if (mapped && write(go_ahead[1], "x", 1) != 1) mapped = false;
  close(go_ahead[1]);
  errno = error;
  return mapped ? pid : -1;
}

static bool receive(uint32_t *size, int *fds) {
  union control control;
  struct iovec content = {.iov_base = size, .iov_len = sizeof *size};
  struct msghdr message = {.msg_iov = &content, .msg_iovlen = 1, .msg_control = control.space, .msg_controllen = sizeof control.space};
  ssize_t count;
  do {
    count = recvmsg(guest_program, &message, MSG_CMSG_CLOEXEC | MSG_WAITALL);
  } while (count < 0 && errno == EINTR);
  struct cmsghdr *head = CMSG_FIRSTHDR(&message);
  if (count != (ssize_t)sizeof *size || *size > WIRE_MAX_SPAWN) return false;
  if (!head || head->cmsg_type != SCM_RIGHTS || head->cmsg_len != CMSG_LEN(sizeof(int) * PASSED)) return false;
  memcpy(fds, CMSG_DATA(head), sizeof(int) * PASSED);
  return true;
}

static void serve(void) {
  uint32_t size;
  int fds[PASSED];
  while (receive(&size, fds)) {
    uint8_t *bytes = malloc(size ? size : 1);
    struct request q = {0};
    int32_t answer = -ENOMEM;
    /* A keeper that cannot take the request in has lost its place in the stream. */
    if (!bytes || !transfer(read, guest_program, bytes, size)) return;
    if (request_read(&(struct reader){.at = bytes, .left = size}, &q)) {
      memcpy(q.command.stdio, fds, sizeof q.command.stdio);
      pid_t pid = start_apart(&q.command, fds[PASSED - 1]);
      answer = pid > 0 ? pid : -errno;
    }
    request_free(&q);
    explicit_bzero(bytes, size);
    free(bytes);
    for (int i = 0; i < PASSED; i++) close(fds[i]);
    if (!transfer(give, guest_program, &answer, sizeof answer)) return;
  }
}

static void keeper_main(int socket) {
  int kept[] = {-1, -1, -1, socket, commands_cgroup};
  prctl(PR_SET_NAME, "cloche-keeper");
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != guest_pid) _exit(1);
  prctl(PR_SET_DUMPABLE, 0);
  /* The table of descriptors is what a command starts with: it has places for its own. */
  guest_program = 3;
  if (commands_cgroup >= 0) commands_cgroup = 4;
  if (!descriptors_keep(kept, sizeof kept / sizeof *kept, 0)) _exit(1);
  /* SECURITY: it keeps what it takes to map ids into a namespace that it owns, and no more (G-06, G-08) */
  if (!harden_keep_only(UINT64_C(1) << CAP_SETUID | UINT64_C(1) << CAP_SETGID | UINT64_C(1) << CAP_SETFCAP)) _exit(1);
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || !seccomp_install(SECCOMP_KEEPER)) _exit(1);
  serve();
  _exit(0);
}

bool keeper_start(void) {
  int pair[2];
  for (size_t i = 0; i < sizeof id_files / sizeof *id_files; i++) {
    if (!read_map(&id_files[i])) return false;
  }
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) return false;
  guest_pid = getpid();
  pid_t pid = fork();
  if (pid == 0) keeper_main(pair[1]);
  close(pair[1]);
  if (pid < 0) close(pair[0]);
  else keeper = pair[0];
  return pid > 0;
}

bool keeper_is_there(void) { return keeper >= 0; }

pid_t keeper_fork(const uint8_t *request, size_t size, const int stdio[3], int status_fd) {
  int fds[PASSED] = {stdio[0], stdio[1], stdio[2], status_fd};
  uint32_t told = (uint32_t)size;
  int32_t answer;
  bool done = descriptors_send(keeper, &told, sizeof told, fds, PASSED, 0) && transfer(give, keeper, (void *)(uintptr_t)request, size) &&
              transfer(read, keeper, &answer, sizeof answer);
  if (done && answer > 0) return answer;
  errno = done ? -answer : EPIPE;
  return -1;
}
