/*
 * `cloche-guest gate-keeper`: keeps the gate of one workspace running, also while no daemon runs.
 *
 * It holds what a gate must not lose when it is killed: the socket on which the daemon speaks to it, and two files in memory in which the gate writes down
 * what it was told. It starts the gate with these three, a channel on which the gate asks for connections (gate_links.c), and the file for the older part of the gate's log.
 * It starts the gate again when it ends. Of what a sandbox sends it sees nothing. It ends, and the gate with it, when it is told to and when its record is removed, as it is
 * with the workspace's folder.
 */
#include "host_programs/gate_keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/code_pages.h"
#include "base/descriptors.h"
#include "base/launcher.h"
#include "commands/harden.h"
#include "commands/seccomp.h"
#include "host_programs/gate_links.h"
#include "host_programs/gate_porter.h"
#include "host_programs/gate_programs.h"
#include "host_programs/gate_user.h"

#define STATUS_FD 3 /* pipe from the daemon: "B" once the socket is bound, "E message" on failure */
#define FIRST_FD 3  /* what the gate finds: two files for its state, the listening socket, the channel for connections, and its older log */
#define PASSED 5
#define CHANNEL 3 /* of what is passed */
#define OLDER_LOG_AT 4
#define CHANNEL_VARIABLE "NODE_CHANNEL_FD=6"
#define ABOVE_PASSED 20
#define RECORD "gate.pid"
#define SOCKET "control.sock"
#define OLDER_LOG "gate.log.1"    /* the same as in gate-log-files.ts */
#define GIT "git"                 /* where the gate keeps repositories; not there in a workspace without */
#define GIT_PLACE "/sys/kernel"   /* where root's gate sees it: every host has that folder, and a gate has no use for what is in it */
#define FIRST_PAUSE_MS 50
#define LONGEST_PAUSE_MS 5000
#define STEADY_MS 10000 /* a gate that ran that long does not fail at its start */
#define LOOK_MS 60000   /* between two looks where the kernel does not tell what is removed */
#define REST_MS 1000    /* without anything to do it rests after that long, and takes less memory */
#define END_MS 1000     /* for a gate to end by itself */

static char **program;
static int passed[PASSED];
static int folder = -1;
static int told = -1;        /* signals */
static bool watches = false; /* whether one comes when something is removed from the folder */
static pid_t gate = -1;      /* -1: none runs */

static long long now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (long long)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int above(int fd) {
  int moved = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, ABOVE_PASSED);
  if (moved < 0) fail("cannot open what a gate needs");
  close(fd);
  return moved;
}

static void enter_folder(const char *path) {
  if (chdir(path) != 0) fail("cannot enter %s", path);
  folder = above(open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  /* A daemon that was killed while it started a keeper leaves one on its way: of two, one goes on. */
  if (flock(folder, LOCK_EX | LOCK_NB) != 0) fail("another gate serves this workspace");
}

static void open_watches(void) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGCHLD);
  sigaddset(&set, SIGIO);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGHUP);
  if (sigprocmask(SIG_BLOCK, &set, NULL) != 0) fail("cannot block signals");
  told = above(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  /* Not inotify: a user has few instances of it. */
  watches = fcntl(folder, F_NOTIFY, DN_DELETE | DN_RENAME | DN_MULTISHOT) == 0;
}

/*
 * Where the gate keeps what its log had before it began anew: the gate can open no file of the folder. SECURITY: where the disk is full there is no older log, and a gate
 * all the same (G-54)
 */
static int open_older_log(void) {
  int fd = openat(folder, OLDER_LOG, O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
  return fd >= 0 ? fd : open("/dev/null", O_RDWR | O_CLOEXEC);
}

static bool has_record(void) { return faccessat(folder, RECORD, F_OK, 0) == 0; }

/*
 * SECURITY: what comes from a sandbox and from outside is parsed by a program that runs no program with more rights, makes no namespace, traces nobody and leaves no
 * core. Of root's capabilities it keeps those by which it reads its own program and becomes a user of its own; it does so, and has none left, before anything
 * reaches it. A limit of one byte and not of none: where it is none the kernel gives the memory to the host's own collector, if it has one (G-42)
 */
static void lose_rights(void) {
  struct rlimit none = {.rlim_cur = 1, .rlim_max = 1};
  (void)setrlimit(RLIMIT_CORE, &none);
  uint64_t needed = UINT64_C(1) << CAP_DAC_READ_SEARCH | UINT64_C(1) << CAP_SETUID | UINT64_C(1) << CAP_SETGID;
  if (!harden_keep_only(geteuid() == 0 ? needed : 0)) fail("cannot drop capabilities");
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || !seccomp_install(SECCOMP_COMMAND)) fail("cannot install the system call filter");
}

/*
 * Root's gate becomes a user that can enter no folder of the home. So the folder in which it keeps repositories is shown to it at another place, which nobody else
 * sees, and is its own there.
 */
static void show_git_folder(pid_t keeper) {
  int fd = openat(folder, GIT, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) return;
  if (geteuid() == 0) {
    uid_t own = GATE_FIRST_USER + (uid_t)keeper;
    if (fchown(fd, own, own) != 0) fail("cannot give the gate its folder");
    /* The folder that a process is in is the only one that it finds again in a namespace of its own. */
    if (fchdir(fd) != 0 || unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) != 0)
      fail("cannot make a mount namespace for the gate");
    if (mount(".", GIT_PLACE, NULL, MS_BIND, NULL) != 0) fail("cannot show the gate its folder");
    if (mount(NULL, GIT_PLACE, NULL, MS_REMOUNT | MS_BIND | MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) != 0) fail("cannot restrict the gate's folder");
    if (chdir("/") != 0) fail("cannot enter /");
  }
  close(fd);
}

/* Does not return. */
static void become_gate(pid_t keeper) {
  sigset_t none;
  sigemptyset(&none);
  (void)sigprocmask(SIG_SETMASK, &none, NULL);
  /* The gate ends with its keeper: the daemon knows only the keeper's pid. Later, as another user, it ends by itself when its channel is closed. */
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != keeper) _exit(125);
  show_git_folder(keeper);
  if (!descriptors_keep(passed, PASSED, FIRST_FD)) fail("cannot pass descriptors on");
  for (int i = 0; i < PASSED; i++) {
    if (fcntl(FIRST_FD + i, F_SETFD, 0) != 0) fail("cannot pass descriptors on");
  }
  lose_rights();
  if (putenv(CHANNEL_VARIABLE) != 0) fail("cannot name the channel");
  execv(program[0], program);
  fail("cannot run %s", program[0]);
}

static bool start_gate(void) {
  pid_t keeper = getpid();
  passed[CHANNEL] = gate_links_open(folder);
  gate = passed[CHANNEL] < 0 ? -1 : fork();
  if (gate == 0) become_gate(keeper);
  if (passed[CHANNEL] >= 0) close(passed[CHANNEL]);
  return gate > 0;
}

/* Takes what the signals say; true when it is to end. */
static bool take_signals(void) {
  struct signalfd_siginfo info;
  bool end = false;
  while (read(told, &info, sizeof info) == (ssize_t)sizeof info)
    end = end || (info.ssi_signo != SIGCHLD && info.ssi_signo != SIGIO);
  return end;
}

/* What root's gate has started ends with it: nobody else has its user. */
static void end_children(void) {
  if (geteuid() != 0) return;
  uid_t own = GATE_FIRST_USER + (uid_t)getpid();
  pid_t child = fork();
  if (child == 0) {
    if (setresgid(own, own, own) != 0 || setresuid(own, own, own) != 0) _exit(1);
    (void)kill(-1, SIGKILL);
    _exit(0);
  }
  if (child > 0) (void)waitpid(child, NULL, 0);
}

static bool gate_ended(void) {
  gate_programs_reap();
  gate_porter_reap();
  if (gate < 0 || waitpid(gate, NULL, WNOHANG) != gate) return false;
  gate = -1;
  end_children();
  gate_links_close();
  return true;
}

static void end_gate(void) {
  if (gate > 0) kill(gate, SIGTERM);
  for (long long until = now_ms() + END_MS; gate > 0 && now_ms() < until;) {
    struct pollfd waited = {.fd = told, .events = POLLIN};
    (void)poll(&waited, 1, (int)(until - now_ms()));
    (void)take_signals();
    (void)gate_ended();
  }
  if (gate > 0) {
    kill(gate, SIGKILL);
    (void)waitpid(gate, NULL, 0);
    end_children();
  }
  gate_programs_end();
  gate_porter_end();
}

static int wait_ms(long long due) {
  long long left = due - now_ms();
  if (gate < 0) return left > 0 ? (int)left : 0;
  return watches ? -1 : LOOK_MS;
}

/* Most of its life it has nothing to do: a gate that runs well asks for a connection now and then. */
static int wait_for_news(struct pollfd *waited, nfds_t count, int longest_ms) {
  if (longest_ms >= 0 && longest_ms <= REST_MS) return poll(waited, count, longest_ms);
  int ready = poll(waited, count, REST_MS);
  if (ready != 0) return ready;
  code_pages_release();
  return poll(waited, count, longest_ms);
}

/* A gate that fails at once must not keep a processor busy. */
static int longer(int pause_ms) {
  if (pause_ms == 0) return FIRST_PAUSE_MS;
  return pause_ms * 2 > LONGEST_PAUSE_MS ? LONGEST_PAUSE_MS : pause_ms * 2;
}

/* Until it is to end. */
static void keep(void) {
  long long started = now_ms();
  long long due = started;
  int pause_ms = 0;
  for (;;) {
    bool failed = false;
    if (gate < 0 && now_ms() >= due) {
      started = now_ms();
      failed = !start_gate();
    }
    struct pollfd waited[] = {{.fd = told, .events = POLLIN}, {.fd = gate_links_descriptor(), .events = POLLIN}};
    if (!failed && wait_for_news(waited, 2, wait_ms(due)) > 0 && waited[1].revents) gate_links_serve();
    if (take_signals() || !has_record()) return;
    if (!failed && !gate_ended()) continue;
    pause_ms = now_ms() - started > STEADY_MS ? 0 : longer(pause_ms);
    due = now_ms() + pause_ms;
  }
}

int gate_keeper_main(int argc, char **argv) {
  if (argc < 5 || strcmp(argv[1], "--directory") != 0 || strcmp(argv[3], "--") != 0)
    fail_usage("usage: cloche-guest gate-keeper --directory PATH -- PROGRAM [ARGUMENT...]");
  launcher_status = fcntl(STATUS_FD, F_DUPFD_CLOEXEC, ABOVE_PASSED);
  program = argv + 4;
  prctl(PR_SET_NAME, "cloche-keeper");
  /* SECURITY: what a gate was told is in this process too, and for nobody else (G-42) */
  prctl(PR_SET_DUMPABLE, 0);
  enter_folder(argv[2]);
  record_own_pid(RECORD);
  open_watches();
  /* SECURITY: what a gate was told is in memory, and in no file of the host (G-28) */
  passed[0] = above(memfd_create("cloche-gate-a", MFD_CLOEXEC));
  passed[1] = above(memfd_create("cloche-gate-b", MFD_CLOEXEC));
  passed[2] = above(listen_privately(SOCKET));
  passed[OLDER_LOG_AT] = above(open_older_log());
  if (!has_record()) fail("the workspace was removed");
  if (chdir("/") != 0) fail("cannot enter /");
  if (launcher_status >= 0 && write(launcher_status, "B", 1) != 1) fail("cannot report");
  close(launcher_status);
  launcher_status = -1;
  close(STATUS_FD);
  keep();
  end_gate();
  (void)unlinkat(folder, SOCKET, 0);
  (void)unlinkat(folder, RECORD, 0);
  return 0;
}
