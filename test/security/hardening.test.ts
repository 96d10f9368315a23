import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, watch, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { removeGroup } from "../../src/walls/cgroup.ts";
import { GuestFiles } from "../../src/guest/files.ts";
import type { GuestClient } from "../../src/guest/client.ts";
import { AGENT, RealGuest, command, run, shell } from "../guest/real-guest.ts";
import { PROJECT, eventually, runProcess } from "../helpers/installation.ts";
import { SHARING_WALLS, describeWalls, useSandbox } from "../helpers/sandbox.ts";

const SIGKILL = 9;

describeWalls("what a command may take", "hard", (box) => {
  it("G-08 a command changes its own limits and nobody else's", async () => {
    const { stdout } = await box.perl(`
      my $l = pack("QQ", 64, 64);
      $! = 0; my $r = syscall(302, getppid(), 7, $l, 0); print "$r $!\\n";
      $! = 0; $r = syscall(302, 1, 7, $l, 0); print "$r $!\\n";
      $! = 0; $r = syscall(302, $$, 7, $l, 0); print "$r $!\\n";
      $r = syscall(302, 0, 7, $l, 0); print "$r\\n";`);
    expect(stdout).toBe(`${"-1 Operation not permitted\n".repeat(3)}0\n`);
    expect((await box.sh("ulimit -n 50 && ulimit -n")).stdout).toBe("50\n");
  });

  it("G-06 a pair of sockets has an ordinary family too", async () => {
    const pair = (family: number) =>
      box.perl(`my $p = pack("ii", 0, 0); $! = 0; my $r = syscall(53, ${family}, 1, 0, $p); print "$r $!";`);
    for (const family of [30, 40])
      expect((await pair(family)).stdout).toBe("-1 Address family not supported by protocol"); // TIPC, vsock
    expect((await pair(1)).stdout).toMatch(/^0 /);
  });
});

// A machine's kernel has instances of its own.
describeWalls(
  "the share of the user that a sandbox takes",
  "share",
  (box) => {
    it("G-15 inotify instances of a sandbox are few, and the host's own programs can watch files while it holds them", async () => {
      const holding = box.at.sdk.openCommand(box.id, {
        command: [
          "perl",
          "-e",
          '$| = 1; my $n = 0; while (syscall(294, 0) >= 0) { $n++ } print "$n $!\\n"; sleep 60', // inotify_init1
        ],
        stdin: true,
      });
      let text = "";
      for await (const { data } of holding.output()) {
        text += data.toString();
        if (!text.includes("\n")) continue;
        // A program of the host that has none yet.
        const look = 'require("fs").watch("/tmp").close(); console.log("watched")';
        expect((await runProcess(process.execPath, ["-e", look])).stdout).toBe("watched\n");
        break;
      }
      expect(text).toMatch(/^(\d|[12]\d|3[0-2]) Too many open files\n$/);
      watch(tmpdir()).close();
    });
  },
  SHARING_WALLS,
);

describe("what a sandbox shows of the host", () => {
  const box = useSandbox("shows");

  it("G-01 the mount table says nothing about where cloche is installed", async () => {
    const { stdout } = await box.sh("cat /proc/self/mountinfo");
    const roots = stdout
      .trim()
      .split("\n")
      .map((line) => line.split(" ")[3] ?? "");
    expect(roots).toContain("/guest");
    for (const root of roots) {
      expect(root.split("/"), root).not.toContain(basename(PROJECT));
      expect(root.split("/"), root).not.toContain("cloche-guest");
    }
    expect(stdout).not.toContain(PROJECT);
  });

  it.skipIf(!existsSync("/usr/etc") && !existsSync("/usr/local/etc"))(
    "G-01 configuration of the whole host in /usr/etc and /usr/local/etc is not there, and cannot be put there",
    async () => {
      const { stdout } = await box.sh("find /usr/etc /usr/local/etc -mindepth 1 2>/dev/null");
      expect(stdout).toBe("");
      expect((await box.sh("touch /usr/etc/npmrc || touch /usr/local/etc/npmrc")).exit_code).not.toBe(0);
    },
  );
});

describe("file work in a hostile sandbox", () => {
  let guest: RealGuest;
  let client: GuestClient;
  beforeAll(async () => {
    guest = await RealGuest.start();
    client = await guest.client();
  });
  afterAll(async () => {
    await guest[Symbol.asyncDispose]();
  });

  /** A builtin that waits for its input, for as long as `during` takes. */
  async function whileWriting(during: (pid: string) => Promise<void>): Promise<void> {
    const writing = client.spawn(command(["write", "workspace", "slow", "-"], { builtin: true, stdin: true, env: {} }));
    writing.discardOutput();
    const { pid } = await writing.started;
    // It is the user once it reads.
    await eventually(async () => {
      const { stdout } = await shell(client, `grep -c ^Seccomp:.2 /proc/${pid}/status`);
      expect(stdout).toBe("1\n");
    });
    await during(String(pid));
    await writing.write(Buffer.from("whole"));
    writing.endInput();
    expect(await writing.exit).toMatchObject({ kind: "exited", code: 0 });
  }

  it("G-08 a command can neither stop, end nor trace a builtin, which still has the user's rights only", async () => {
    await whileWriting(async (pid) => {
      const { stdout } = await shell(
        client,
        `kill -STOP ${pid}; kill -KILL ${pid}; kill -TERM ${pid}; kill -KILL -1 & wait; true`,
      );
      expect(stdout).toBe("");
      const { stdout: status } = await shell(client, `cat /proc/${pid}/status`);
      expect(status).toMatch(/^Uid:\t0\t1000\t0\t1000$/m);
      expect(status).toMatch(/^Gid:\t1000\t1000\t1000\t1000$/m);
      expect(status).toMatch(/^Groups:\t *$/m);
      for (const set of ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"])
        expect(status, set).toMatch(new RegExp(`^${set}:\\t0+$`, "m"));
      expect(status).toMatch(/^NoNewPrivs:\t1$/m);
      const { stdout: traced } = await shell(
        client,
        `perl -e 'print syscall(101, 16, ${pid}, 0, 0)'; cat /proc/${pid}/mem /proc/${pid}/environ; ls /proc/${pid}/fd`,
      );
      expect(traced).toBe("-1");
    });
    expect((await shell(client, "cat slow; stat -c %u:%g slow", { cwd: guest.workspace })).stdout).toBe(
      "whole1000:1000\n",
    );
    const files = new GuestFiles(client, AGENT);
    await expect(files.write("system", "etc/evil", Buffer.from("x"))).rejects.toMatchObject({ code: "FILE_FAILED" });
    await expect(files.readAll("system", "etc/shadow", { maxBytes: 10 })).rejects.toMatchObject({
      code: "FILE_FAILED",
    });
  });

  it("G-06 a builtin has a filter of its own on top of the commands'", async () => {
    const filters = async (pid: string) => {
      const { stdout } = await shell(client, `grep ^Seccomp_filters: /proc/${pid}/status | cut -f2`);
      return Number(stdout);
    };
    const ofCommands = await filters("self");
    expect(ofCommands).toBeGreaterThan(0);
    // Its own is the last thing that it takes on.
    await whileWriting((pid) => eventually(async () => expect(await filters(pid)).toBe(ofCommands + 1)));
  });

  it("G-08 a command that finds the guest program's socket, and may open it, is not heard", async () => {
    const socket = join(guest.directory, "socket");
    chmodSync(socket, 0o666);
    const program = `use Socket; $| = 1; socket(S, AF_UNIX, SOCK_STREAM, 0) or die;
      connect(S, pack_sockaddr_un("${socket}")) or die "no: $!"; print "connected ";
      alarm 5; print defined sysread(S, my $answer, 1) ? "closed" : "failed: $!";`;
    expect((await run(client, ["perl", "-e", program])).stdout).toBe("connected closed");
  });

  it("G-08 a builtin that is stopped all the same is ended, and the caller told", async () => {
    const files = new GuestFiles(client, AGENT);
    async function* content() {
      yield Buffer.from("a");
      // root can, as a command can where there is one user
      const { stdout } = await shell(
        client,
        "kill -STOP $(grep -l '^Uid:.0.1000' /proc/[0-9]*/status | cut -d/ -f3); echo ok",
        {
          user: { uid: 0, gid: 0 },
        },
      );
      expect(stdout).toBe("ok\n");
      for (let n = 0; n < 64; n++) yield Buffer.alloc(65_536);
    }
    await expect(files.write("workspace", "frozen", content(), { stallMs: 400 })).rejects.toMatchObject({
      code: "SANDBOX_LOST",
      message: 'Cannot write "frozen": the sandbox does not answer',
    });
    await eventually(async () => {
      const { stdout } = await shell(client, "cat /proc/[0-9]*/stat | awk '$3 == \"T\"'");
      expect(stdout).toBe("");
    });
    expect(await files.write("workspace", "after", Buffer.from("fine"))).toBe(4);
  });

  it("G-10 a tree deeper than a path can name is listed as far as it can be named, and taken out not at all", async () => {
    const name = "d".repeat(200);
    await shell(client, `i=0; while [ $i -lt 30 ]; do mkdir ${name} && cd ${name} || exit 1; i=$((i + 1)); done`, {
      cwd: guest.workspace,
    });
    const files = new GuestFiles(client, AGENT);
    const error = {
      code: "FILE_FAILED",
      message: expect.stringMatching(/: a path below "d{100}.*" is longer than 4096 bytes$/) as string,
    };
    const listed = await files.list("workspace", "", { recursive: true });
    expect(listed.filter(({ path }) => path.startsWith(name))).toHaveLength(20);
    const out = async () => {
      for await (const item of files.treeOut("workspace", "")) expect(item.pathBytes.length).toBeLessThanOrEqual(4096);
    };
    await expect(out()).rejects.toMatchObject(error);
    expect((await files.list("workspace", name)).length).toBe(1);
    await files.remove("workspace", name, { recursive: true });
    expect(readdirSync(guest.workspace)).not.toContain(name);
  });

  it("G-15 what a process left behind is reached after its end, and its output stays", async () => {
    const daemon = client.spawn(
      command(["sh", "-c", "echo early; (trap '' TERM HUP; setsid sleep 86.25 & setsid sleep 86.25 &)"], {
        keep: true,
      }),
    );
    daemon.discardOutput();
    const { process } = await daemon.started;
    await daemon.exit;
    const left = async () =>
      (await shell(client, "cat /proc/[0-9]*/cmdline | tr '\\0' ' ' | grep -o 'sleep 86[.]25'")).stdout;
    // Until it is sleep, each of them is a shell with more words.
    await eventually(async () => expect(await left()).toBe("sleep 86.25\n".repeat(2)));
    await client.signalTree(process, 18); // CONT, to show that not every signal waits
    await client.signalTree(process, SIGKILL);
    expect(await left()).toBe("");
    const info = (await client.processes()).find((one) => one.process === process);
    expect(info?.stdout.end).toBe(6);
    await client.signalTree(process, SIGKILL);
    await client.forget(process);
    await expect(client.signalTree(process, SIGKILL)).rejects.toMatchObject({ code: "COMMAND_NOT_FOUND" });
  });
});

describe("a folder of the workspace that something is mounted on", () => {
  let guest: RealGuest;
  let files: GuestFiles;
  let mounted: string;
  beforeAll(async () => {
    try {
      guest = await RealGuest.start(false, ({ workspace }) => {
        mounted = join(workspace, "outer/mounted");
        mkdirSync(mounted, { recursive: true });
        execFileSync("mount", ["-t", "tmpfs", "tmpfs", mounted]);
        writeFileSync(join(mounted, "precious"), "x");
        execFileSync("chown", ["-R", `${AGENT.uid}:${AGENT.gid}`, workspace]);
      });
    } finally {
      execFileSync("umount", [mounted]); // the sandbox has its own
    }
    files = new GuestFiles(await guest.client(), AGENT);
  });
  afterAll(async () => {
    await guest[Symbol.asyncDispose]();
  });

  const refusal = { message: expect.stringContaining("something is mounted there") as string };
  const inIt = async () => (await files.list("workspace", "outer/mounted")).map(({ path }) => path);

  it("G-16 is not emptied by a removal", async () => {
    await expect(files.remove("workspace", "outer", { recursive: true })).rejects.toMatchObject(refusal);
    expect(await inIt()).toEqual(["precious"]);
  });

  it("G-16 is not emptied by a patch", async () => {
    await expect(files.treeIn("workspace", "", [{ type: "removal", path: "outer/mounted" }])).rejects.toMatchObject(
      refusal,
    );
    expect(await inIt()).toEqual(["precious"]);
  });
});

describe("a busy host", () => {
  it("G-15 a cgroup that is still busy is removed once it is not", async () => {
    // A folder answers ENOTEMPTY; only a cgroup with a process in it answers EBUSY.
    const base = ["/sys/fs/cgroup/pids", "/sys/fs/cgroup"].find((path) => existsSync(join(path, "cgroup.procs")));
    if (base === undefined) return;
    const group = mkdtempSync(join(base, "cloche-test-"));
    const member = spawn("sleep", ["60"], { stdio: "ignore" });
    writeFileSync(join(group, "cgroup.procs"), String(member.pid));
    const gone = once(member, "exit");
    try {
      await expect(removeGroup(group, 20)).rejects.toMatchObject({ code: "EBUSY" });
      const removing = removeGroup(group);
      member.kill("SIGKILL");
      await removing;
    } finally {
      member.kill("SIGKILL");
      await gone;
    }
    expect(existsSync(group)).toBe(false);
  });

  it("G-15 a start waits for its guest also when no file can be watched", async () => {
    const folder = mkdtempSync(join(tmpdir(), "cloche-appears-"));
    try {
      const program = `
        import { writeFileSync } from "node:fs";
        import { fileAppears } from "${join(PROJECT, "dist/walls/file-appears.js")}";
        setTimeout(() => writeFileSync("${folder}/ready", ""), 50);
        await fileAppears("${folder}/ready", undefined);
        console.log("there");`;
      const script = 'echo 0 > /proc/sys/user/max_inotify_instances && exec "$NODE" --input-type=module -e "$PROGRAM"';
      const env = { PATH: process.env["PATH"], NODE: process.execPath, PROGRAM: program };
      const result = await runProcess("unshare", ["--user", "--map-root-user", "sh", "-c", script], { env });
      expect(result).toMatchObject({ stdout: "there\n", code: 0 });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
