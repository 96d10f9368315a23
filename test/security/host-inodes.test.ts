import { closeSync, constants, openSync, readSync, statSync, utimesSync, writeSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { HostInodes, LOCKS } from "../helpers/host-inodes.ts";
import { DockerEngine } from "../helpers/docker-engine.ts";
import { Installation, runProcess } from "../helpers/installation.ts";

interface Wall {
  readonly name: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly engine?: true;
}
const WALLS: readonly Wall[] = [
  { name: "container" },
  { name: "container with runc", env: { CLOCHE_OCI_RUNTIME: "runc" } },
  { name: "container with runsc", env: { CLOCHE_OCI_RUNTIME: "runsc" } },
  { name: "docker", env: { CLOCHE_BACKEND: "docker" }, engine: true },
];

/** gVisor of 2022 knows no locks of open files. */
const KINDS_INSIDE = /^\d+ flock posix( ofd)?\n$/;

describe.each(WALLS)("G-02 what inodes of the host are good for, $name", ({ env, engine: withEngine }) => {
  let engine: DockerEngine | undefined;
  let at: Installation;
  let id: string;
  const hosts: HostInodes[] = [];

  beforeAll(async () => {
    if (withEngine) engine = await DockerEngine.start();
    for (const parent of ["/opt", "/usr/local"]) hosts.push(await HostInodes.make(parent));
    at = new Installation("g02i", { ...env, ...engine?.env });
    id = (await at.sdk.createWorkspace({ environment: "host" })).workspace_id;
  }, 300_000);
  afterAll(async () => {
    for (const host of hosts) await host[Symbol.asyncDispose]();
    await at[Symbol.asyncDispose]();
    await engine?.[Symbol.asyncDispose]();
  });

  const perl = async (program: string, ...args: string[]) =>
    (await at.sdk.execWorkspace(id, { command: ["perl", "-e", program, ...args], timeout_seconds: 60 })).stdout;
  const onHost = async (program: string, ...args: string[]) =>
    (await runProcess("perl", ["-e", program, ...args])).stdout;

  it("G-02 a socket that listens for everybody does not answer", async () => {
    for (const host of hosts) {
      const program = `use Socket; socket(S, AF_UNIX, SOCK_STREAM, 0) or die; print connect(S, pack_sockaddr_un($ARGV[0])) ? <S> : "refused: $!"`;
      expect(await onHost(program, host.path("socket")), "the host itself").toBe("reached\n");
      expect(await perl(program, host.path("socket"))).toMatch(/^refused/);
      expect(host.connections).toBe(1);
      host.connections = 0;
    }
  });

  it("G-02 a pipe carries nothing out, and nothing in", async () => {
    const talk = `use Fcntl; sysopen(P, $ARGV[0], O_RDWR | O_NONBLOCK) or die "closed"; print defined(sysread(P, my $got, 9)) ? $got : "nothing"; syswrite(P, "inside")`;
    for (const host of hosts) {
      // Open in both directions, so that what is written stays in it.
      const pipe = openSync(host.path("pipe"), constants.O_RDWR | constants.O_NONBLOCK);
      try {
        writeSync(pipe, "outside");
        expect(await perl(talk, host.path("pipe"))).not.toContain("outside");
        const bytes = Buffer.alloc(100);
        expect(bytes.toString("utf8", 0, readSync(pipe, bytes))).toBe("outside");
      } finally {
        closeSync(pipe);
      }
    }
  });

  it("G-02 a lock that is held inside blocks nobody outside, and the other way round", async () => {
    const all = "flock posix ofd\n";
    for (const host of hosts) {
      const file = host.path("file");
      const inside = await perl(LOCKS, "hold", file);
      expect(inside).toMatch(KINDS_INSIDE);
      expect(await onHost(LOCKS, "try", file, "write")).toBe(all);
      await at.sdk.execWorkspace(id, { command: `kill -9 ${Number.parseInt(inside, 10)}` });
      const [pid, ...got] = (await onHost(LOCKS, "hold", file, "write")).split(" ");
      try {
        expect(got.join(" ")).toBe(all);
        expect(await onHost(LOCKS, "try", file, "write"), "the host itself").toBe("\n");
        expect(`1 ${await perl(LOCKS, "try", file)}`).toMatch(KINDS_INSIDE);
      } finally {
        process.kill(Number(pid), "SIGKILL");
      }
    }
  });

  it("G-02 a watch hears nothing of what the host does, and what is read keeps its times", async () => {
    const watch = String.raw`my $n = syscall(253); syscall(254, $n, $ARGV[0], 0xfff) >= 0 or die; open(my $in, "<&=", $n);
      use Fcntl; fcntl($in, F_SETFL, O_NONBLOCK); $| = 1; print "watching\n"; sleep 2; print sysread($in, my $b, 4096) ? "heard\n" : "silent\n"`;
    for (const host of hosts) {
      const use = () => runProcess("sh", ["-c", `sleep 1; cd ${host.folder}; cat file; touch made; rm made`]);
      const [outside] = await Promise.all([onHost(watch, host.folder), use()]);
      expect(outside, "the host itself").toBe("watching\nheard\n");
      utimesSync(host.path("file"), new Date(0), new Date(0));
      const [inside] = await Promise.all([perl(watch, host.folder), use()]);
      expect(inside).toBe("watching\nsilent\n");
      utimesSync(host.path("file"), new Date(0), new Date(0));
      const read = `open(F, "<", $ARGV[0]); print <F>; print utime(1, 1, $ARGV[0]) ? "changed" : "kept", open(F, ">>", $ARGV[0]) ? "wrote" : "kept"`;
      expect(await perl(read, host.path("file"))).toBe("public\nkeptkept");
      expect(statSync(host.path("file")).atimeMs).toBe(0);
    }
  });
});
