import { expect, it } from "vitest";
import { describeWalls } from "../helpers/sandbox.ts";
import { answersTo, askFilter, everyCall, foreignProgram, promisedAnswers } from "../helpers/system-calls.ts";

/** x86_64 numbers of system calls that the filter refuses; each is called with arguments that would otherwise not be refused by it. */
const REFUSED: Record<string, [number: number, args: string, answer: RegExp]> = {
  mount: [165, '"none", "/tmp", "tmpfs", 0, 0', /not permitted/],
  umount2: [166, '"/tmp", 0', /not permitted/],
  pivot_root: [155, '"/tmp", "/tmp"', /not permitted/],
  chroot: [161, '"/tmp"', /not permitted/],
  unshare: [272, "0x10000000", /not permitted/],
  "clone with CLONE_NEWUSER": [56, "0x10000011, 0, 0, 0, 0", /not permitted/],
  clone3: [435, "0, 0", /not implemented/],
  setns: [308, "0, 0", /not permitted/],
  open_by_handle_at: [304, "0, 0, 0", /not permitted/],
  bpf: [321, "0, 0, 0", /not permitted/],
  perf_event_open: [298, "0, 0, 0, 0, 0", /not permitted/],
  userfaultfd: [323, "0", /not permitted/],
  keyctl: [250, "0, 0", /not permitted/],
  io_uring_setup: [425, "1, 0", /not implemented/],
  fsopen: [430, '"tmpfs", 0', /not permitted/],
  open_tree: [428, '0, "/", 0', /not permitted/],
  fsconfig: [431, "-1, 0, 0, 0, 0", /not permitted/],
  mount_setattr: [442, '-1, "", 1, 0, 0', /not permitted/],
  io_uring_enter: [426, "-1, 0, 0, 0, 0, 0", /not implemented/],
  io_uring_register: [427, "-1, 0, 0, 0", /not implemented/],
  add_key: [248, '"user", "cloche", "x", 1, -3', /not permitted/],
  request_key: [249, '"user", "cloche-none", 0, 0', /not permitted/],
  lookup_dcookie: [212, "0, 0, 0", /not permitted/],
  nfsservctl: [180, "0, 0, 0", /not permitted/],
  syslog: [103, "10, 0, 0", /not permitted/],
  settimeofday: [164, "1, 0", /not permitted/],
  clock_settime: [227, "0, 1", /not permitted/],
  clock_adjtime: [305, "0, 1", /not permitted/],
  adjtimex: [159, "1", /not permitted/],
  quotactl: [179, "255, 0, 0, 0", /not permitted/],
  quotactl_fd: [443, "-1, 255, 0, 0", /not permitted/],
  swapon: [167, '"/tmp", 0x7fffffff', /not permitted/],
  iopl: [172, "0", /not permitted/],
  ioperm: [173, "0, 1, 0", /not permitted/],
  "personality without address randomisation": [135, "0x40000", /not permitted/],
  "ioctl with TIOCSTI": [16, "0, 0x5412, 0", /not permitted/],
  "ioctl with TIOCLINUX": [16, "0, 0x541c, 0", /not permitted/],
  sethostname: [170, '"x", 1', /not permitted/],
  reboot: [169, "0, 0, 0", /not permitted/],
  "a call that nobody knows yet": [900, "0", /not implemented/],
};

describeWalls("G-06 privileges", "g06", (box) => {
  it("G-06 a command is agent, uid 1000, in no other group", async () => {
    expect((await box.sh("id -u; id -g; id -G; id -un; echo $HOME; cd ~ && touch x && pwd")).stdout).toBe(
      "1000\n1000\n1000\nagent\n/home/agent\n/home/agent\n",
    );
  });

  it("G-06 a command has no capability in any set, no_new_privs and a seccomp filter", async () => {
    const { stdout } = await box.sh("grep -E '^(Cap|NoNewPrivs|Seccomp:)' /proc/self/status");
    const sets = Object.fromEntries(
      stdout
        .trim()
        .split("\n")
        .map((line) => line.split(/:\s+/) as [string, string]),
    );
    for (const name of ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"])
      expect(BigInt(`0x${sets[name] ?? "1"}`), name).toBe(0n);
    expect(sets["NoNewPrivs"]).toBe("1");
    expect(sets["Seccomp"]).toBe("2");
  });

  it("G-06 a setuid program gains nothing", async () => {
    const { stdout } = await box.sh(
      "for f in /usr/bin/su /usr/bin/mount /usr/bin/passwd /usr/bin/newuidmap; do test -u $f && echo found; done; cp /usr/bin/id ./myid; chmod 4755 myid; ./myid -u; su -c 'id -u' 2>/dev/null; true",
    );
    expect(stdout.split("\n")).toContain("1000");
    expect(stdout.split("\n")).not.toContain("0");
  });

  it("G-06 G-07 the filter refuses every system call that the guarantees name, and no other", async () => {
    const { stdout, stderr } = await box.perl(askFilter(everyCall()));
    expect(stderr).toBe("");
    // An engine has a filter of its own before this one, which refuses more.
    const answers = expect(answersTo(stdout));
    if (box.wall.backend === "docker") answers.toMatchObject(promisedAnswers());
    else answers.toEqual(promisedAnswers());
  });

  it.each(Object.entries(REFUSED))("G-06 the filter refuses %s", async (_name, [number, args, answer]) => {
    const { stdout, exit_code } = await box.perl(
      `my @a = (${args}); $! = 0; my $r = syscall(${number}, @a); print "$r $!";`,
    );
    expect(exit_code).toBe(0);
    expect(stdout).toMatch(/^-1 /);
    expect(stdout).toMatch(answer);
  });

  it("G-06 the filter refuses every call of a 32-bit program", async () => {
    const program = foreignProgram().toString("base64");
    const { exit_code } = await box.sh(`echo ${program} | base64 -d > foreign; chmod 755 foreign; ./foreign`);
    expect(exit_code).not.toBe(42);
    expect(exit_code).not.toBe(0);
  });

  it("G-07 no namespace, mount, device or other root can be made with the usual programs", async () => {
    for (const attempt of [
      "unshare -Ur true",
      "unshare -m true",
      "mount -t tmpfs x /tmp",
      "mknod dev c 1 3",
      "chroot / true",
      "nsenter -t 1 -m true",
      "umount /proc/kcore",
      "mount --bind /tmp /workspace",
    ]) {
      expect((await box.sh(attempt)).exit_code, attempt).not.toBe(0);
    }
  });

  it("G-07 kernel files are masked, kernel settings cannot be written, there is no /sys", async () => {
    // What a machine's kernel tells of itself tells nothing of the host.
    const told = box.wall.backend === "vm" ? [] : ["modules", "cmdline", "interrupts"];
    for (const file of ["kcore", "kallsyms", "keys", "timer_list", ...told]) {
      expect((await box.sh(`head -c 100 /proc/${file} 2>/dev/null | wc -c`)).stdout.trim(), file).toBe("0");
    }
    for (const file of [
      "/proc/sys/kernel/core_pattern",
      "/proc/sys/kernel/hostname",
      "/proc/sys/vm/drop_caches",
      "/proc/sysrq-trigger",
      "/proc/sys/net/ipv4/ip_forward",
    ]) {
      expect((await box.sh(`echo 1 > ${file}`)).exit_code, file).not.toBe(0);
    }
    expect((await box.sh("ls /sys")).stdout).toBe("");
  });

  it("G-07 devices are the harmless ones", async () => {
    const { stdout } = await box.sh(
      "for f in $(find /dev -path /dev/pts -prune -o -print | sort); do test ! -L $f && { test -c $f || test -b $f; } && echo $f; done",
    );
    expect(stdout.trim().split("\n")).toEqual([
      "/dev/full",
      "/dev/null",
      "/dev/random",
      "/dev/tty",
      "/dev/urandom",
      "/dev/zero",
    ]);
  });
});
