#include "commands/seccomp.h"

#include <asm/sockios.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <termios.h>
#include <unistd.h>

#if defined(__x86_64__)
#define NATIVE_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define NATIVE_ARCH AUDIT_ARCH_AARCH64
#else
#error "The system call filter knows x86_64 and aarch64 only"
#endif

/* The newest call that was looked at (mseal); what comes later is denied until it was, and so is the x32 ABI, whose numbers have a high bit. */
#define NEWEST_CALL 462u

/* CLONE_NEW*, without CLONE_NEWTIME, whose bit is part of the signal number in clone(). */
#define NEW_NAMESPACES 0x7e020000u

#define TIOCLINUX_COMMAND 0x541cu

struct denial {
  uint32_t call;
  uint16_t error;
};

/* Newer than some headers; what is newer than NEWEST_CALL is refused as a whole. */
#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452
#endif

#define DENY(name) {SYS_##name, EPERM}
#define HIDE(name) {SYS_##name, ENOSYS}

/* SECURITY: everything here is denied whatever its arguments are (G-06, G-07) */
static const struct denial denials[] = {
    /* mounts and roots */
    DENY(mount), DENY(umount2), DENY(pivot_root), DENY(chroot), DENY(fsopen), DENY(fsconfig), DENY(fsmount), DENY(fspick),
    DENY(move_mount), DENY(open_tree), DENY(mount_setattr), DENY(open_by_handle_at),
    /* namespaces; clone3 hides its flags in memory, and libc falls back to clone */
    DENY(setns), DENY(unshare), HIDE(clone3),
    /* large kernel surfaces */
    DENY(bpf), DENY(perf_event_open), DENY(userfaultfd), HIDE(io_uring_setup), HIDE(io_uring_enter), HIDE(io_uring_register),
    DENY(keyctl), DENY(add_key), DENY(request_key),
#ifdef SYS_lookup_dcookie
    DENY(lookup_dcookie),
#endif
#ifdef SYS_nfsservctl
    DENY(nfsservctl),
#endif
    /* the machine */
    DENY(kexec_load), DENY(init_module), DENY(finit_module), DENY(delete_module), DENY(reboot), DENY(swapon), DENY(swapoff),
    DENY(acct), DENY(quotactl), DENY(quotactl_fd), DENY(syslog), DENY(settimeofday), DENY(clock_settime), DENY(clock_adjtime),
    DENY(adjtimex), DENY(sethostname), DENY(setdomainname), DENY(vhangup),
#ifdef SYS_kexec_file_load
    DENY(kexec_file_load),
#endif
#ifdef SYS_iopl
    DENY(iopl), DENY(ioperm),
#endif
};

/* SECURITY: a builtin whose real user is root has no way to become it: not by a call, and not by executing something (G-06) */
static const struct denial builtin_denials[] = {
    DENY(setuid), DENY(setgid), DENY(setreuid), DENY(setregid), DENY(setresuid), DENY(setresgid), DENY(setfsuid), DENY(setfsgid),
    DENY(setgroups), DENY(capset), DENY(execve), DENY(execveat), DENY(ptrace), DENY(process_vm_readv), DENY(process_vm_writev),
};

/* SECURITY: where an emulator has the user's own id, it could else end, slow down or look into the user's processes (G-22) */
static const struct denial emulator_denials[] = {
    DENY(kill), DENY(tkill), DENY(rt_sigqueueinfo), DENY(pidfd_send_signal), DENY(setpriority), DENY(ioprio_set),
    DENY(ptrace), DENY(process_vm_readv), DENY(process_vm_writev), DENY(pidfd_getfd), DENY(kcmp), DENY(process_madvise),
    DENY(process_mrelease), DENY(migrate_pages), DENY(move_pages),
    /*
     * What it was given to read is the user's, and a descriptor is enough to make it writable: the memory of all machines. Or to give it another time:
     * then it counts as damaged, and is thrown away.
     */
    DENY(fchmod), DENY(fchmodat), DENY(fchmodat2), DENY(setxattr), DENY(lsetxattr), DENY(fsetxattr), DENY(removexattr), DENY(lremovexattr),
    DENY(fremovexattr), DENY(fchown), DENY(fchownat), DENY(utimensat),
#ifdef SYS_chmod
    DENY(chmod), DENY(chown), DENY(lchown), DENY(utime), DENY(utimes), DENY(futimesat),
#endif
};

#define DENIALS (sizeof denials / sizeof *denials)
#define BUILTIN_DENIALS (sizeof builtin_denials / sizeof *builtin_denials)
#define EMULATOR_DENIALS (sizeof emulator_denials / sizeof *emulator_denials)
#define MAX_PROGRAM (2 * (DENIALS + BUILTIN_DENIALS + EMULATOR_DENIALS) + 144)

static struct sock_filter program[MAX_PROGRAM];
static unsigned short length;

static void add(struct sock_filter instruction) { program[length++] = instruction; }

static void load(size_t offset) { add((struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset)); }

static void give(uint32_t action) { add((struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action)); }

static void give_error(int error) { give(SECCOMP_RET_ERRNO | (uint32_t)error); }

/* Runs the next `count` instructions only if the loaded word compares to `value` so; skips them otherwise. */
static void only_if(unsigned short comparison, uint32_t value, uint8_t count) {
  add((struct sock_filter)BPF_JUMP((unsigned short)(BPF_JMP | comparison | BPF_K), value, 0, count));
}

static void skip_if_equal(uint32_t value, uint8_t count) {
  add((struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, count, 0));
}

/* The kernel looks at the lower half of these arguments only, so the filter does too. */
static size_t argument(unsigned number) { return offsetof(struct seccomp_data, args) + 8u * number; }

static void check_clone(bool by_keeper) {
  only_if(BPF_JEQ, SYS_clone, by_keeper ? 5 : 4);
  load(argument(0));
  if (by_keeper) skip_if_equal(KEEPER_CLONE, 2);
  only_if(BPF_JSET, NEW_NAMESPACES, 1);
  give_error(EPERM);
  give(SECCOMP_RET_ALLOW);
}

/* SECURITY: no keystroke can be pushed into a terminal (G-09) */
static void check_ioctl(bool owners_too) {
  only_if(BPF_JEQ, SYS_ioctl, owners_too ? 10 : 6);
  load(argument(1));
  if (owners_too) {
    only_if(BPF_JEQ, FIOSETOWN, 1);
    give_error(EPERM);
    only_if(BPF_JEQ, SIOCSPGRP, 1);
    give_error(EPERM);
  }
  only_if(BPF_JEQ, TIOCSTI, 1);
  give_error(EPERM);
  only_if(BPF_JEQ, TIOCLINUX_COMMAND, 1);
  give_error(EPERM);
  give(SECCOMP_RET_ALLOW);
}

/* SECURITY: vsock, packet and the like reach past the network namespace or widen the kernel's surface (G-03) */
static void check_families(uint32_t call) {
  only_if(BPF_JEQ, call, 7);
  load(argument(0));
  skip_if_equal(AF_UNIX, 4);
  skip_if_equal(AF_INET, 3);
  skip_if_equal(AF_INET6, 2);
  skip_if_equal(AF_NETLINK, 1);
  give_error(EAFNOSUPPORT);
  give(SECCOMP_RET_ALLOW);
}

/* SECURITY: where commands have the guest program's user, they could take its descriptors and memory away (G-08) */
static void check_caller_only(uint32_t call) {
  only_if(BPF_JEQ, call, 4);
  load(argument(0));
  skip_if_equal(0, 1);
  give_error(EPERM);
  give(SECCOMP_RET_ALLOW);
}

/* SECURITY: not every kernel asks for a capability: gVisor of 2022 lets anybody make a device (G-07) */
static void check_devices(uint32_t call, unsigned mode) {
  only_if(BPF_JEQ, call, 7);
  load(argument(mode));
  add((struct sock_filter)BPF_STMT(BPF_ALU | BPF_AND | BPF_K, S_IFMT));
  only_if(BPF_JEQ, S_IFCHR, 1);
  give_error(EPERM);
  only_if(BPF_JEQ, S_IFBLK, 1);
  give_error(EPERM);
  give(SECCOMP_RET_ALLOW);
}

static void check_personality(void) {
  only_if(BPF_JEQ, SYS_personality, 8);
  load(argument(0));
  skip_if_equal(0, 5);
  skip_if_equal(0x8, 4);
  skip_if_equal(0x20000, 3);
  skip_if_equal(0x20008, 2);
  skip_if_equal(0xffffffff, 1);
  give_error(EPERM);
  give(SECCOMP_RET_ALLOW);
}

/* Its own threads may be signalled, by a call that names the process. */
static void check_own_process(uint32_t call) {
  only_if(BPF_JEQ, call, 4);
  load(argument(0));
  skip_if_equal((uint32_t)getpid(), 1);
  give_error(EPERM);
  give(SECCOMP_RET_ALLOW);
}

/* The owner of a descriptor gets signals for it, and any process may be made the owner. A process with a lease on a file holds up all others that open it. */
static void check_owners(void) {
  only_if(BPF_JEQ, SYS_fcntl, 8);
  load(argument(1));
  only_if(BPF_JEQ, F_SETLEASE, 1);
  give_error(EPERM);
  only_if(BPF_JEQ, F_SETOWN, 1);
  give_error(EPERM);
  only_if(BPF_JEQ, F_SETOWN_EX, 1);
  give_error(EPERM);
  give(SECCOMP_RET_ALLOW);
}

static void deny_all(const struct denial *list, size_t count) {
  for (size_t i = 0; i < count; i++) {
    only_if(BPF_JEQ, list[i].call, 1);
    give_error(list[i].error);
  }
}

static void build(enum seccomp_purpose purpose) {
  length = 0;
  load(offsetof(struct seccomp_data, arch));
  skip_if_equal(NATIVE_ARCH, 1);
  give_error(ENOSYS);
  load(offsetof(struct seccomp_data, nr));
  only_if(BPF_JGT, NEWEST_CALL, 1);
  give_error(ENOSYS);
  deny_all(denials, DENIALS);
  if (purpose == SECCOMP_BUILTIN) deny_all(builtin_denials, BUILTIN_DENIALS);
  if (purpose == SECCOMP_EMULATOR) {
    deny_all(emulator_denials, EMULATOR_DENIALS);
    check_own_process(SYS_tgkill);
    check_own_process(SYS_rt_tgsigqueueinfo);
    check_caller_only(SYS_sched_setscheduler);
    check_caller_only(SYS_sched_setparam);
    check_caller_only(SYS_sched_setattr);
    check_caller_only(SYS_sched_setaffinity);
    check_owners();
  }
  check_clone(purpose == SECCOMP_KEEPER);
  check_ioctl(purpose == SECCOMP_EMULATOR);
  check_families(SYS_socket);
  check_families(SYS_socketpair);
  check_caller_only(SYS_prlimit64);
#ifdef SYS_mknod
  check_devices(SYS_mknod, 1);
#endif
  check_devices(SYS_mknodat, 2);
  check_personality();
  give(SECCOMP_RET_ALLOW);
}

bool seccomp_install(enum seccomp_purpose purpose) {
  build(purpose);
  struct sock_fprog filter = {.len = length, .filter = program};
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0) == 0;
}
