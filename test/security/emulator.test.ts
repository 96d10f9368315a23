import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { type AddressInfo, type Server, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { launchMachine } from "../../src/backends/vm/machine-process.ts";
import { removeTree } from "../../src/base/remove-tree.ts";
import { guestProgram } from "../../src/walls/guest-program.ts";
import { eventually } from "../helpers/installation.ts";
import {
  type Call,
  answersTo,
  askFilter,
  callNumbers,
  everyCall,
  foreignProgram,
  promisedAnswers,
} from "../helpers/system-calls.ts";

const EMULATOR = 1_900_099_999;
const USER = 54_321;
const PERL = "/usr/bin/perl";
/** The file is not there for it, or not to be changed. */
const NO = /^(No such file or directory|Read-only file system|Permission denied|Operation not permitted)$/;

/** Perl in the emulator's place, started as an emulator is: what a guest can do that has broken out to it. */
describe.each([
  ["started by root", EMULATOR],
  ["started by a user", USER],
])("G-22 an emulator %s that a guest has taken over", (_who, uid) => {
  let folder: string;
  let neighbour: ChildProcess;
  let listeners: Server[];
  let memory: string;

  beforeAll(async () => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), "cl-em-")));
    chmodSync(folder, 0o755);
    mkdirSync(join(folder, "machine"));
    chmodSync(join(folder, "machine"), 0o777); // so that it is not the mode that keeps it from writing there
    copyFileSync(guestProgram(), join(folder, "guest"));
    for (const name of ["readable", "given", "own"]) writeFileSync(join(folder, name), "canary", { mode: 0o644 });
    chmodSync(join(folder, "own"), 0o600);
    chmodSync(join(folder, "given"), 0o444); // as what all machines start from
    chownSync(join(folder, "own"), uid, uid);
    if (uid === USER) for (const name of ["machine", "given"]) chownSync(join(folder, name), uid, uid);
    // Another process of the same user, such as another emulator whose name has the same hash.
    neighbour = spawn("sleep", ["600"], { uid, gid: uid, stdio: "ignore" });
    listeners = [createServer().listen(0, "127.0.0.1"), createServer().listen(`\0cl-em-${uid}`)];
    await Promise.all(listeners.map((listener) => once(listener, "listening")));
    memory = /\d+/.exec(execFileSync("ipcmk", ["-M", "4096", "-p", "0666"], { encoding: "utf8" }))?.[0] ?? "";
  });
  afterAll(async () => {
    for (const listener of listeners) listener.close();
    neighbour.kill("SIGKILL");
    execFileSync("ipcrm", ["-m", memory]);
    await removeTree(folder);
  });

  async function attack(program: string, perl = PERL): Promise<string> {
    const rights = uid === USER ? [] : ["--user", String(uid)];
    const argv = ["emulator", "--directory", join(folder, "machine"), ...rights, "--read", join(folder, "given")];
    writeFileSync(join(folder, "machine/attack.pl"), `$| = 1; ${program}`);
    const child = spawn(join(folder, "guest"), [...argv, "--", perl, "attack.pl"], {
      ...(uid === USER && { uid, gid: uid }),
      cwd: "/",
      stdio: ["ignore", "pipe", "pipe"],
    });
    let text = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (text += chunk.toString()));
    await once(child, "close");
    return text;
  }

  it("opens the files that it was given, and those of the system", async () => {
    const read = (path: string) => `open(F, "<", "${path}") or print "no: $!"; print <F>;`;
    expect(await attack(read("/proc/self/fd/10"))).toBe("canary");
    expect(await attack(`print -r "/usr/bin/perl" ? "fine" : "no"; ${read("/usr/bin/perl")}`)).toMatch(/^fine\x7fELF/);
  });

  it("opens no other file, its own user's neither, and makes none", async () => {
    for (const path of ["readable", "own", "machine/wall.pid"])
      expect(await attack(`print open(F, "<", "${join(folder, path)}") ? "opened" : $!`), path).toMatch(NO);
    for (const path of [join(folder, "machine/new"), "new", "/tmp/cl-em-new", "/dev/shm/cl-em-new", "/proc/self/comm"])
      expect(await attack(`print open(F, ">", "${path}") ? "made" : $!`), path).toMatch(NO);
    expect(await attack(`print opendir(D, "${folder}") ? "listed" : $!`)).toMatch(NO);
  });

  it("finds no way back to the host's root: not above its own, not by a descriptor that was left", async () => {
    for (const above of ["/..", "../..", "/proc/self/root/..", "/proc/self/cwd/../.."])
      expect(await attack(`print -e "${above}${join(folder, "readable")}" ? "there" : "gone"`), above).toBe("gone");
    expect(await attack(`print grep { -d "/proc/self/fd/$_" } 0 .. 1023`)).toBe("");
  });

  it("sees of a program that is installed elsewhere only that", async () => {
    mkdirSync(join(folder, "bin"));
    copyFileSync(PERL, join(folder, "bin/perl"));
    writeFileSync(join(folder, "bin/beside"), "canary");
    symlinkSync("/", join(folder, "lib"));
    const saw = (path: string) => `print -e "${join(folder, path)}" ? "there" : "gone";`;
    const looks = ["bin/perl", "bin/beside", "readable"].map(saw).join('print " ";');
    expect(await attack(looks, join(folder, "bin/perl"))).toBe("there gone gone");
  });

  it("does not get to write what it was given to read, also where that is its user's", async () => {
    const reopen = 'print open(F, "+<", "/proc/self/fd/10") ? "opened" : $!';
    expect(await attack(reopen)).toMatch(NO);
    const changes = [
      "chmod(0666, '/proc/self/fd/10')",
      "syscall(91, 10, 0666)",
      "my $p = '/proc/self/fd/10'; syscall(268, -100, $p, 0666)",
    ];
    for (const change of changes) expect(await attack(`${change}; ${reopen}`), change).toMatch(NO);
    // An access list that lets everybody write.
    const list = `pack("L", 2) . join("", map { pack("SSL", @$_) } [1, 6, -1], [4, 6, -1], [32, 6, -1])`;
    const name = "system.posix_acl_access";
    expect(
      await attack(`my $l = ${list}; my $n = "${name}"; syscall(190, 10, $n, $l, length($l), 0); ${reopen}`),
    ).toMatch(NO);
  });

  it("reaches no listener of the host", async () => {
    const { port } = listeners[0]!.address() as AddressInfo;
    const tcp = `use IO::Socket::INET; print IO::Socket::INET->new(PeerAddr => "127.0.0.1:${port}", Timeout => 5) ? "reached" : "no"`;
    expect(await attack(tcp)).toBe("no");
    const abstract = `use Socket; socket(S, AF_UNIX, SOCK_STREAM, 0) or die; print connect(S, pack_sockaddr_un("\\0cl-em-${uid}")) ? "reached" : "no"`;
    expect(await attack(abstract)).toBe("no");
  });

  it("reaches no memory that processes of the host share", async () => {
    const reads = `my $b; print shmread(${memory}, $b, 0, 1) ? "read" : $!`;
    expect(execFileSync(PERL, ["-e", reads], { encoding: "utf8" })).toBe("read");
    expect(await attack(reads)).toBe("Invalid argument");
  });

  it("neither signals, traces nor reads another process of its user", async () => {
    const pid = neighbour.pid ?? 0;
    await eventually(() => expect(neighbour.exitCode).toBeNull());
    expect(await attack(`print kill(0, ${pid}) ? "signalled" : $!`)).toBe("Operation not permitted");
    expect(await attack(`print syscall(101, 16, ${pid}, 0, 0) == 0 ? "traced" : $!`)).toBe("Operation not permitted");
    for (const file of ["mem", "environ", "maps"])
      expect(await attack(`print open(F, "<", "/proc/${pid}/${file}") ? "opened" : $!`), file).toMatch(NO);
  });

  it("the filter refuses every system call that the guarantees name, and no other", async () => {
    expect(answersTo(await attack(askFilter(everyCall())))).toEqual(promisedAnswers({ emulator: true }));
  });

  it("the filter refuses what depends on arguments, and lets pass what is about the emulator itself", async () => {
    const at = callNumbers();
    const call = (name: string, ...args: (number | string)[]): Call => [at.get(name) ?? -1, ...args];
    const other = neighbour.pid ?? 0;
    const one = ["tgkill", "rt_tgsigqueueinfo"];
    const caller = ["prlimit64", "sched_setscheduler", "sched_setparam", "sched_setattr", "sched_setaffinity"];
    const [F_SETOWN, F_SETOWN_EX, F_SETLEASE, FIOSETOWN, SIOCSPGRP] = [8, 15, 1024, 0x8901, 0x8902];
    const [TIOCSTI, TIOCLINUX, AF_VSOCK, X32] = [0x5412, 0x541c, 40, 0x40000000];
    const refused = [
      ...[...one, ...caller].map((name) => call(name, other)),
      ...[F_SETOWN, F_SETOWN_EX, F_SETLEASE].map((command) => call("fcntl", 0, command, other)),
      ...[FIOSETOWN, SIOCSPGRP, TIOCSTI, TIOCLINUX].map((command) => call("ioctl", 0, command)),
      ...[17, 25, 26, 27, 28, 29, 30].map((bit) => call("clone", 2 ** bit)),
      ...[0o020000, 0o060000].flatMap((kind) => [call("mknod", 0, kind), call("mknodat", 0, 0, kind)]),
      call("personality", 0x40000),
    ];
    const answers = await attack(
      askFilter([...refused, call("socket", AF_VSOCK), call("socketpair", AF_VSOCK), [X32]]),
    );
    expect(answers.split(" ")).toEqual([...refused.map(() => "EPERM"), "EAFNOSUPPORT", "EAFNOSUPPORT", "ENOSYS"]);
    const own = [...one.map((name) => call(name, "$$")), ...caller.map((name) => call(name, 0))];
    const usual = [call("fcntl", 0, 4), call("ioctl", 0, 0x5401), call("clone", 0x3d0f00), call("mknod", 0, 0o100000)];
    const passing = [...own, ...usual, ...[1, 2, 10, 16].map((family) => call("socket", family))];
    expect((await attack(askFilter(passing))).split(" ")).toEqual(passing.map(() => "passed"));
  });

  it("the filter refuses every call of a 32-bit program", async () => {
    writeFileSync(join(folder, "machine/foreign"), foreignProgram(), { mode: 0o755 });
    expect(execFileSync(PERL, ["-e", `print system("${folder}/machine/foreign") >> 8`], { encoding: "utf8" })).toBe(
      "42",
    );
    expect(await attack(`print system("./foreign") >> 8`)).not.toBe("42");
  });

  it("gains nothing from a setuid program", async () => {
    expect(await attack(`open(F, "<", "/proc/self/status"); print grep /^(NoNewPrivs|CapEff)/, <F>`)).toBe(
      "CapEff:\t0000000000000000\nNoNewPrivs:\t1\n",
    );
  });
});

describe("G-22 an emulator", () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "cl-em-"));
    chmodSync(folder, 0o755);
    writeFileSync(join(folder, "told"), "");
  });
  afterAll(() => removeTree(folder));

  const told = () => readFileSync(join(folder, "told"), "utf8");
  /** Prints for a second, as a guest can make an emulator do, and tells how much of it somebody took. */
  const flood = `open(T, ">&=", 10); my $n = 0; my $end = time + 2;
    while (time < $end) { my $w = syswrite(STDERR, "x" x 65536); $w ? ($n += $w) : select(undef, undef, undef, 0.001) }
    syswrite(T, "$n\\n")`;

  it("G-22 loses the ids and the groups of whoever starts it", () => {
    const argv = [
      "--groups",
      "4,27",
      guestProgram(),
      "emulator",
      "--directory",
      folder,
      "--user",
      String(EMULATOR),
      "--",
    ];
    const status = execFileSync("setpriv", [...argv, "/usr/bin/cat", "/proc/self/status"], { encoding: "utf8" });
    expect(/^Groups:\t(.*)$/m.exec(status)?.[1]?.trim()).toBe("");
    for (const kind of ["Uid", "Gid"]) expect(status).toContain(`${kind}:${`\t${EMULATOR}`.repeat(4)}\n`);
  });

  it("G-22 leaves no mount on a host whose mounts are shared, as most are", () => {
    const argv = [guestProgram(), "emulator", "--directory", folder, "--user", String(EMULATOR), "--"];
    const script = `"$@"; cat /proc/self/mountinfo`;
    const shared = ["--mount", "--propagation", "shared", "sh", "-c", script, "sh", ...argv, "/usr/bin/echo", "ran"];
    const [ran, ...mounts] = execFileSync("unshare", shared, { encoding: "utf8" }).split("\n");
    expect(ran).toBe("ran");
    expect(mounts.join("\n")).toContain("shared:");
    expect(mounts.filter((line) => / cloche | \/run\/(usr|machine)/.test(line))).toEqual([]);
  });

  it("G-15 can print without end: nobody keeps it, and it goes on", async () => {
    writeFileSync(join(folder, "flood.pl"), `${flood}; sleep 60`);
    const command = { launcher: ["--write", join(folder, "told")], program: [PERL, "flood.pl"], env: {}, stateFd: -1 };
    const { process } = await launchMachine(folder, command, EMULATOR);
    try {
      await eventually(() => expect(told()).toMatch(/^\d+\n$/));
      expect(Number(told())).toBeLessThan(4 * 1024 * 1024);
      expect(readdirSync(folder).sort()).toEqual(["flood.pl", "told", "wall.pid"]);
    } finally {
      await process.kill();
    }
  });

  it("G-15 is not held up by a daemon that does not read what it prints", async () => {
    truncateSync(join(folder, "told"));
    const argv = ["emulator", "--directory", folder, "--user", String(EMULATOR), "--write", join(folder, "told"), "--"];
    writeFileSync(join(folder, "flood.pl"), flood);
    const child = spawn(guestProgram(), [...argv, PERL, "flood.pl"], { stdio: ["ignore", "pipe", "pipe"] });
    await once(child, "exit");
    expect(Number(told())).toBeLessThan(4 * 1024 * 1024);
  });
});
