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
  truncateSync,
  writeFileSync,
} from "node:fs";
import { type AddressInfo, type Server, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { launchMachine } from "../../src/backends/vm/machine-process.ts";
import { removeTree } from "../../src/base/remove-tree.ts";
import { GUEST_PROGRAM } from "../../src/walls/guest-program.ts";
import { eventually } from "../helpers/installation.ts";

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

  beforeAll(async () => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), "cl-em-")));
    chmodSync(folder, 0o755);
    mkdirSync(join(folder, "machine"), { mode: 0o711 });
    copyFileSync(GUEST_PROGRAM, join(folder, "guest"));
    for (const name of ["readable", "given", "own"]) writeFileSync(join(folder, name), "canary", { mode: 0o644 });
    chmodSync(join(folder, "own"), 0o600);
    chmodSync(join(folder, "given"), 0o444); // as what all machines start from
    chownSync(join(folder, "own"), uid, uid);
    if (uid === USER) for (const name of ["machine", "given"]) chownSync(join(folder, name), uid, uid);
    // Another process of the same user, such as another emulator whose name has the same hash.
    neighbour = spawn("sleep", ["600"], { uid, gid: uid, stdio: "ignore" });
    listeners = [createServer().listen(0, "127.0.0.1"), createServer().listen(`\0cl-em-${uid}`)];
    await Promise.all(listeners.map((listener) => once(listener, "listening")));
  });
  afterAll(async () => {
    for (const listener of listeners) listener.close();
    neighbour.kill("SIGKILL");
    await removeTree(folder);
  });

  async function attack(program: string): Promise<string> {
    const rights = uid === USER ? [] : ["--user", String(uid)];
    const argv = ["emulator", "--directory", join(folder, "machine"), ...rights, "--read", join(folder, "given")];
    writeFileSync(join(folder, "machine/attack.pl"), `$| = 1; ${program}`);
    const child = spawn(join(folder, "guest"), [...argv, "--", PERL, "attack.pl"], {
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
    for (const path of [join(folder, "machine/new"), "new", "/tmp/cl-em-new", "/dev/shm/cl-em-new"])
      expect(await attack(`print open(F, ">", "${path}") ? "made" : $!`), path).toMatch(NO);
    expect(await attack(`print opendir(D, "${folder}") ? "listed" : $!`)).toMatch(NO);
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
    const { port } = listeners[0]?.address() as AddressInfo;
    const tcp = `use IO::Socket::INET; print IO::Socket::INET->new(PeerAddr => "127.0.0.1:${port}", Timeout => 5) ? "reached" : "no"`;
    expect(await attack(tcp)).toBe("no");
    const abstract = `use Socket; socket(S, AF_UNIX, SOCK_STREAM, 0) or die; print connect(S, pack_sockaddr_un("\\0cl-em-${uid}")) ? "reached" : "no"`;
    expect(await attack(abstract)).toBe("no");
  });

  it("neither signals, traces nor reads another process of its user", async () => {
    const pid = neighbour.pid ?? 0;
    await eventually(() => expect(neighbour.exitCode).toBeNull());
    expect(await attack(`print kill(0, ${pid}) ? "signalled" : $!`)).toBe("Operation not permitted");
    expect(await attack(`print syscall(101, 16, ${pid}, 0, 0) == 0 ? "traced" : $!`)).toBe("Operation not permitted");
    for (const file of ["mem", "environ", "maps"])
      expect(await attack(`print open(F, "<", "/proc/${pid}/${file}") ? "opened" : $!`), file).toMatch(NO);
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

  it("G-22 loses the groups of whoever starts it", () => {
    const argv = [
      "--groups",
      "4,27",
      GUEST_PROGRAM,
      "emulator",
      "--directory",
      folder,
      "--user",
      String(EMULATOR),
      "--",
    ];
    const status = execFileSync("setpriv", [...argv, "/usr/bin/cat", "/proc/self/status"], { encoding: "utf8" });
    expect(/^Groups:\t(.*)$/m.exec(status)?.[1]?.trim()).toBe("");
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
    const child = spawn(GUEST_PROGRAM, [...argv, PERL, "flood.pl"], { stdio: ["ignore", "pipe", "pipe"] });
    await once(child, "exit");
    expect(Number(told())).toBeLessThan(4 * 1024 * 1024);
  });
});
