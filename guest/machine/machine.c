/*
 * `cloche-guest machine`: the first process of a virtual machine.
 *
 * It builds a sandbox with nothing in its workspace, starts the guest program as the first process of a pid namespace of its own, and says
 * so: at that point the host freezes the machine, and every sandbox is thawed from there. What the host says next makes it one of its own:
 * the time, randomness, a name, and what is in its workspace. This process stays to do the same for a machine that was saved with its
 * processes, and to write the disk and switch the machine off when the guest program ends.
 */
#include "machine/machine.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/random.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/reboot.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/bounds.h"
#include "base/launcher.h"
#include "builtins/folder.h"
#include "init/init.h"
#include "layers/layer_stream.h"
#include "machine/machine_cgroup.h"
#include "machine/machine_id.h"
#include "machine/machine_mounts.h"
#include "machine/machine_port.h"
#include "machine/machine_roots.h"

#define MODULES "/modules"
#define CONTROL_PORT "cloche.control"
#define GUEST_PORTS 8
#define LINE_BYTES 4096
#define ENTROPY_BYTES 64

static int control = -1;
static int guest_ports[GUEST_PORTS];
static int guest_socket = -1;
static pid_t guest = -1;
static int commands_file = -1; /* by which commands join their cgroup */
static bool has_seed;
static unsigned long long memory_bytes = 64u << 20; /* of each folder in memory */

static void load_module(int folder, const char *name) {
  int file = openat(folder, name, O_RDONLY | O_CLOEXEC);
  if (file < 0 || (syscall(SYS_finit_module, file, "", 0) != 0 && errno != EEXIST)) fail("cannot load %s", name);
  close(file);
}

/* Their names begin with their place in the order that they need. */
static void load_modules(void) {
  struct names names;
  int folder = open(MODULES, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return; /* a kernel that has everything built in */
  if (!names_read(folder, &names)) fail("cannot read %s", MODULES);
  for (size_t i = 0; i < names.count; i++) load_module(folder, names.list[i]);
  names_free(&names);
  close(folder);
}

static void use_console(void) {
  int console = open("/dev/console", O_RDWR | O_NOCTTY);
  for (int fd = 0; console >= 0 && fd < 3; fd++) (void)dup2(console, fd);
  if (console > 2) close(console);
}

static void open_ports(void) {
  control = machine_port_open(CONTROL_PORT);
  for (int i = 0; i < GUEST_PORTS; i++) {
    char name[32];
    snprintf(name, sizeof name, "cloche.guest.%d", i);
    guest_ports[i] = machine_port_open(name);
    if (guest_ports[i] < 0) fail("cannot open the port %s", name);
  }
  if (control < 0) fail("cannot open the port %s", CONTROL_PORT);
  launcher_status = control;
}

static void write_setting(const char *path, const char *value) {
  int fd = open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0 || write(fd, value, strlen(value)) < 0) fail("cannot write %s", path);
  close(fd);
}

/* `time SECONDS.NANOSECONDS` */
static void set_time(const char *text) {
  char *rest;
  struct timespec now = {.tv_sec = strtoll(text, &rest, 10)};
  if (*rest == '.') now.tv_nsec = strtol(rest + 1, NULL, 10);
  if (clock_settime(CLOCK_REALTIME, &now) != 0) fail("cannot set the clock");
}

/* SECURITY: machines thawed from one template have one state of randomness until it is renewed (G-22) */
static void add_entropy(const char *hex) {
  /* As `struct rand_pool_info`, which leaves its own end open. */
  struct {
    int entropy_bits;
    int size;
    unsigned char bytes[ENTROPY_BYTES];
  } pool = {.entropy_bits = ENTROPY_BYTES * 8, .size = ENTROPY_BYTES};
  if (strlen(hex) != ENTROPY_BYTES * 2) {
    errno = EINVAL;
    fail("cannot use the randomness");
  }
  for (int i = 0; i < ENTROPY_BYTES; i++) {
    char pair[3] = {hex[2 * i], hex[2 * i + 1], 0};
    pool.bytes[i] = (unsigned char)strtoul(pair, NULL, 16);
  }
  int fd = open("/dev/urandom", O_RDWR | O_CLOEXEC);
  if (fd < 0 || ioctl(fd, RNDADDENTROPY, &pool) != 0 || ioctl(fd, RNDRESEEDCRNG) != 0) fail("cannot renew the randomness");
  close(fd);
  memset(&pool, 0, sizeof pool);
}

static void set_hostname(const char *name) {
  if (sethostname(name, strlen(name)) != 0) fail("cannot set the host name");
}

/* A child reads the layer from the port: it ends with the layer, and what went wrong is its own. */
static void receive_layer(const char *number) {
  char path[64];
  snprintf(path, sizeof path, MACHINE_LAYERS "/%.10s", number);
  if (mkdir(path, 0755) != 0 && errno != EEXIST) fail("cannot make %s", path);
  /* Not before: what comes with the line would be taken for another. */
  machine_port_say(control, "send");
  pid_t pid = fork();
  if (pid == 0) {
    char *words[] = {"layer-unpack", "--to", path, NULL};
    if (dup2(control, STDIN_FILENO) < 0) _exit(1);
    _exit(layer_unpack_main(3, words));
  }
  int status;
  if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0) fail("cannot receive a layer");
  sync();
  machine_port_say(control, "received");
}

/* Does not return. */
static void run_guest(int roots_socket) {
  static char texts[GUEST_PORTS + 2][16];
  static char *words[2 * GUEST_PORTS + 6];
  size_t count = 0;
  words[count++] = "init";
  words[count++] = "--roots-fd";
  words[count++] = texts[GUEST_PORTS];
  snprintf(texts[GUEST_PORTS], sizeof *texts, "%d", roots_socket);
  for (int i = 0; i < GUEST_PORTS; i++) {
    snprintf(texts[i], sizeof *texts, "%d", guest_ports[i]);
    words[count++] = "--port-fd";
    words[count++] = texts[i];
  }
  if (commands_file >= 0) {
    snprintf(texts[GUEST_PORTS + 1], sizeof *texts, "%d", commands_file);
    words[count++] = "--commands-fd";
    words[count++] = texts[GUEST_PORTS + 1];
  }
  machine_port_leave(control);
  launcher_status = -1;
  _exit(init_main((int)count, words));
}

/* The guest program, as the first process of its pid namespace. */
static void start_guest(void) {
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) fail("cannot make a socket");
  pid_t pid = (pid_t)syscall(SYS_clone, CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWIPC | SIGCHLD, 0, 0, 0, 0);
  if (pid < 0) fail("cannot start the guest program");
  if (pid == 0) {
    close(pair[0]);
    machine_enter_sandbox();
    run_guest(pair[1]);
  }
  close(pair[1]);
  guest_socket = pair[0];
  guest = pid;
}

static void hand_over(size_t layers) {
  int folders[MACHINE_FOLDERS + MAX_LAYERS];
  size_t count = machine_open_folders(folders, layers, has_seed);
  if (!machine_roots_send(guest_socket, folders, count)) fail("the guest program does not answer");
  for (size_t i = 0; i < count; i++) close(folders[i]);
}

static void build_sandbox(const char *disk) {
  machine_mount_disk(disk);
  machine_mount_sandbox(memory_bytes);
  start_guest();
  hand_over(0);
}

/* Nothing of this machine's sandbox has been used yet: it is built again on the disk that another machine has left. */
static void move_to_old_disk(void) {
  pid_t old = guest;
  guest = -1;
  if (kill(old, SIGKILL) != 0 || waitpid(old, NULL, 0) != old) fail("cannot end the guest program");
  close(guest_socket);
  machine_unmount_sandbox();
  build_sandbox(MACHINE_OLD_DISK);
}

/* SECURITY: machines thawed from one template have one id until it is renewed (G-22) */
static void renew_id(void) {
  if (!machine_id_renew_in_place(MACHINE_ROOT)) fail("cannot write the machine's id");
}

static void renew(void) {
  renew_id();
  if (!machine_roots_send(guest_socket, NULL, 0)) fail("the guest program does not answer");
}

static void place_workspace(const char *text) {
  size_t layers = strtoul(text, NULL, 10);
  if (layers > MAX_LAYERS) fail_usage("too many layers");
  machine_mount_workspace(layers, has_seed);
  renew_id();
  hand_over(layers);
}

/* The guest program has ended: the disk is written, and the machine goes. */
static void switch_off(void) {
  sync();
  (void)reboot(RB_POWER_OFF);
  for (;;) pause();
}

static void on_child(int number) {
  int saved = errno;
  (void)number;
  if (guest > 0 && waitpid(guest, NULL, WNOHANG) == guest) switch_off();
  errno = saved;
}

static bool starts(const char *line, const char *word, const char **rest) {
  size_t length = strlen(word);
  if (strncmp(line, word, length) != 0 || (line[length] != 0 && line[length] != ' ')) return false;
  *rest = line + length + (line[length] == ' ');
  return true;
}

static void obey(const char *line) {
  const char *rest;
  if (starts(line, "time", &rest)) set_time(rest);
  else if (starts(line, "entropy", &rest)) add_entropy(rest);
  else if (starts(line, "hostname", &rest)) set_hostname(rest);
  else if (starts(line, "old-disk", &rest)) move_to_old_disk();
  else if (starts(line, "seed", &rest)) has_seed = true;
  else if (starts(line, "layer", &rest)) receive_layer(rest);
  else if (starts(line, "workspace", &rest)) place_workspace(rest);
  else if (starts(line, "renew", &rest)) renew();
  else if (starts(line, "sync", &rest)) sync();
  else if (starts(line, "ready", &rest)) machine_port_say(control, "ready %s", rest);
}

static void choose_memory(void) {
  struct sysinfo info;
  if (sysinfo(&info) == 0) memory_bytes = (unsigned long long)info.totalram * info.mem_unit / 2;
}

int machine_main(int argc, char **argv) {
  (void)argc;
  (void)argv;
  static char line[LINE_BYTES];
  struct sigaction action = {.sa_handler = on_child, .sa_flags = SA_RESTART};
  if (getpid() != 1) fail_usage("only the first process of a machine does this");
  machine_mount_kernel();
  use_console();
  load_modules();
  open_ports();
  prctl(PR_SET_NAME, "cloche-machine");
  machine_port_say(control, "booted");
  machine_mount_environment();
  write_setting("/proc/sys/vm/dirty_writeback_centisecs", "100");
  write_setting("/proc/sys/vm/dirty_expire_centisecs", "100");
  choose_memory();
  commands_file = machine_cgroup_open();
  (void)sigaction(SIGCHLD, &action, NULL);
  build_sandbox(MACHINE_OWN_DISK);
  renew_id(); /* so that there is one to be written over */
  sync();
  machine_port_say(control, "built");
  for (;;) {
    if (machine_port_line(control, line, sizeof line)) obey(line);
  }
}
