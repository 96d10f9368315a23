#include "machine/machine_mounts.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/bounds.h"
#include "base/launcher.h"
#include "walls/stage.h"

#define ENVIRONMENT_DEVICE "/dev/vda"
#define SEED_DEVICE "/dev/vdc"
#define DISK "/disk"
#define SEED "/seed"
#define WORKSPACE MACHINE_ROOT "/workspace"
#define AGENT 1000
#define HOME "/home/agent"
/* Without `noinit_itable` a machine would begin by writing zeroes over tables that are nothing but a hole. */
#define DISK_OPTIONS "commit=2,noauto_da_alloc,noinit_itable"

static void make_folder(const char *path, mode_t mode) {
  if (mkdir(path, mode) != 0 && errno != EEXIST) fail("cannot make %s", path);
}

static void mount_at(const char *source, const char *target, const char *type, unsigned long flags, const char *options) {
  if (mount(source, target, type, flags, options) != 0) fail("cannot mount %s at %s", type ? type : "a folder", target);
}

void machine_mount_kernel(void) {
  static const char *const folders[] = {"/dev", "/proc", "/sys", DISK, SEED, MACHINE_ENVIRONMENT, MACHINE_ROOT};
  for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) make_folder(folders[i], 0755);
  mount_at("devtmpfs", "/dev", "devtmpfs", 0, NULL);
  mount_at("proc", "/proc", "proc", 0, NULL);
  mount_at("sysfs", "/sys", "sysfs", 0, NULL);
}

void machine_mount_environment(void) { mount_at(ENVIRONMENT_DEVICE, MACHINE_ENVIRONMENT, "erofs", MS_RDONLY | MS_NODEV | MS_NOSUID, NULL); }

/* The medium may be another one than when the machine was frozen. */
static void forget_cached(const char *device) {
  int fd = open(device, O_RDONLY | O_CLOEXEC);
  if (fd < 0 || ioctl(fd, BLKFLSBUF, 0) != 0) fail("cannot look at %s anew", device);
  close(fd);
}

void machine_mount_disk(const char *device) {
  static const char *const folders[] = {DISK "/root",           DISK "/root/upper",      DISK "/root/work",
                                        DISK "/workspace",      DISK "/workspace/work", MACHINE_LAYERS, DISK "/empty"};
  forget_cached(device);
  mount_at(device, DISK, "ext4", MS_NODEV | MS_NOSUID | MS_NOATIME, DISK_OPTIONS);
  for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) make_folder(folders[i], 0755);
  if (mkdir(DISK "/workspace/upper", 0755) == 0) {
    if (chown(DISK "/workspace/upper", AGENT, AGENT) != 0) fail("cannot give the workspace to its user");
  } else if (errno != EEXIST) {
    fail("cannot make the writable layer");
  }
}

static const char *baseline(bool has_seed) { return has_seed ? SEED : DISK "/empty"; }

static int open_folder(const char *path) {
  int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) fail("cannot open %s", path);
  return fd;
}

static int open_layer(size_t number) {
  char path[64];
  snprintf(path, sizeof path, MACHINE_LAYERS "/%zu", number);
  return open_folder(path);
}

static void close_all(const int *fds, size_t count) {
  for (size_t i = 0; i < count; i++) close(fds[i]);
}

/* Over the layers, from the top down, and the folders `upper` and `work` of the disk. */
static void mount_over(const int *lowers, size_t count, const char *upper, const char *work, const char *target) {
  int writable[2] = {open_folder(upper), open_folder(work)};
  overlay_mount(lowers, count, writable[0], writable[1], "", target);
  close_all(writable, 2);
  close_all(lowers, count);
}

static void mount_layers(size_t layers, bool has_seed) {
  int lowers[MAX_LAYERS + 1];
  for (size_t i = 0; i < layers; i++) lowers[i] = open_layer(layers - 1 - i);
  lowers[layers] = open_folder(baseline(has_seed));
  mount_over(lowers, layers + 1, DISK "/workspace/upper", DISK "/workspace/work", WORKSPACE);
}

void mount_memory(const char *target, unsigned mode, unsigned long long bytes) {
  char options[64];
  make_folder(target, 0755);
  snprintf(options, sizeof options, "mode=%o,size=%llu", mode, bytes);
  mount_at("tmpfs", target, "tmpfs", MS_NOSUID | MS_NODEV, options);
}

static void make_devices(unsigned long long memory_bytes) {
  static const struct {
    const char *name;
    unsigned major, minor;
  } nodes[] = {{"null", 1, 3}, {"zero", 1, 5}, {"full", 1, 7}, {"random", 1, 8}, {"urandom", 1, 9}, {"tty", 5, 0}};
  static const char *const links[][2] = {{"/proc/self/fd", "fd"},      {"/proc/self/fd/0", "stdin"}, {"/proc/self/fd/1", "stdout"},
                                         {"/proc/self/fd/2", "stderr"}, {"pts/ptmx", "ptmx"},        {"/proc/kcore", "core"}};
  char path[128];
  /* SECURITY: these devices and no others: neither the disks nor the host's ports (G-22) */
  mount_at("tmpfs", MACHINE_ROOT "/dev", "tmpfs", MS_NOSUID, "mode=755,size=65536");
  for (size_t i = 0; i < sizeof nodes / sizeof *nodes; i++) {
    snprintf(path, sizeof path, MACHINE_ROOT "/dev/%s", nodes[i].name);
    if (mknod(path, S_IFCHR | 0666, makedev(nodes[i].major, nodes[i].minor)) != 0) fail("cannot make %s", path);
  }
  for (size_t i = 0; i + 1 < sizeof links / sizeof *links; i++) {
    snprintf(path, sizeof path, MACHINE_ROOT "/dev/%s", links[i][1]);
    if (symlink(links[i][0], path) != 0) fail("cannot make %s", path);
  }
  make_folder(MACHINE_ROOT "/dev/pts", 0755);
  mount_at("devpts", MACHINE_ROOT "/dev/pts", "devpts", MS_NOSUID | MS_NOEXEC, "newinstance,ptmxmode=0666,mode=0620");
  mount_memory(MACHINE_ROOT "/dev/shm", 01777, memory_bytes);
}

void give_home(const char *path) {
  struct stat st;
  if (lstat(path, &st) != 0 || !S_ISDIR(st.st_mode) || st.st_uid == AGENT) return;
  if (chown(path, AGENT, AGENT) != 0) fail("cannot give %s to its user", path);
}

void machine_mount_sandbox(unsigned long long memory_bytes) {
  int environment = open_folder(MACHINE_ENVIRONMENT);
  umask(0);
  mount_over(&environment, 1, DISK "/root/upper", DISK "/root/work", MACHINE_ROOT);
  /* What is mounted here later appears in the sandbox's namespace too. */
  mount_at(NULL, MACHINE_ROOT, NULL, MS_SHARED, NULL);
  give_home(MACHINE_ROOT HOME);
  make_devices(memory_bytes);
  mount_memory(MACHINE_ROOT "/tmp", 01777, memory_bytes);
  mount_memory(MACHINE_ROOT "/run", 0755, memory_bytes);
  mount_layers(0, false);
}

void machine_unmount_sandbox(void) {
  if (umount2(MACHINE_ROOT, MNT_DETACH) != 0 || umount2(DISK, MNT_DETACH) != 0) fail("cannot let go of the disk");
}

void machine_mount_workspace(size_t layers, bool has_seed) {
  if (has_seed) {
    forget_cached(SEED_DEVICE);
    mount_at(SEED_DEVICE, SEED, "erofs", MS_RDONLY | MS_NODEV | MS_NOSUID, NULL);
  }
  if (umount2(WORKSPACE, MNT_DETACH) != 0) fail("cannot replace the workspace");
  mount_layers(layers, has_seed);
}

size_t machine_open_folders(int *folders, size_t layers, bool has_seed) {
  size_t count = 0;
  folders[count++] = open_folder(WORKSPACE);
  folders[count++] = open_folder(DISK "/workspace/upper");
  folders[count++] = open_folder(baseline(has_seed));
  for (size_t i = 0; i < layers; i++) folders[count++] = open_layer(i);
  return count;
}

void protect_kernel_files(void) {
  static const char *const steering[] = {"/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus", "/proc/fs", "/proc/acpi", "/proc/mtrr"};
  static const char *const secret[] = {"/proc/kcore", "/proc/kallsyms", "/proc/kmsg", "/proc/keys", "/proc/key-users", "/proc/timer_list"};
  for (size_t i = 0; i < sizeof steering / sizeof *steering; i++) {
    if (mount(steering[i], steering[i], NULL, MS_BIND, NULL) != 0 && errno == ENOENT) continue;
    /* SECURITY: a command could else have the kernel run a program with all capabilities (G-06) */
    mount_at(NULL, steering[i], NULL, MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL);
  }
  for (size_t i = 0; i < sizeof secret / sizeof *secret; i++) {
    if (mount("/dev/null", secret[i], NULL, MS_BIND, NULL) != 0 && errno != ENOENT) fail("cannot cover %s", secret[i]);
  }
}

void machine_enter_sandbox(void) {
  /* Mounts come in, and none gets out. */
  mount_at(NULL, MACHINE_ROOT, NULL, MS_SLAVE, NULL);
  if (chdir(MACHINE_ROOT) != 0) fail("cannot enter the sandbox");
  /* The first root of a machine cannot be left behind by pivot_root, only covered. */
  if (mount(".", "/", NULL, MS_MOVE, NULL) != 0 || chroot(".") != 0 || chdir("/") != 0) fail("cannot enter the sandbox");
  mount_at("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL);
  protect_kernel_files();
}
