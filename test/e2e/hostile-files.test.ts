import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { identifyProcess, isProcessAlive } from "../../src/base/process-identity.ts";
import { eventually, Installation, PROJECT } from "../helpers/installation.ts";
import { guestPids, killDaemon, sandboxFolder } from "../helpers/running-daemon.ts";

const failing = (code: string, words = "") =>
  expect.objectContaining({ code, message: expect.stringContaining(words) as string }) as Error;

let at: Installation;
beforeAll(() => {
  at = new Installation("hf");
});
afterAll(() => at[Symbol.asyncDispose]());

const create = async () => (await at.sdk.createWorkspace({ environment: "host" })).workspace_id;
const sh = async (id: string, command: string) => {
  const { exit_code, stderr, stdout } = await at.sdk.execWorkspace(id, { command, timeout_seconds: 60 });
  expect({ exit_code, stderr }).toEqual({ exit_code: 0, stderr: "" });
  return stdout;
};
async function daemonMib(): Promise<number> {
  const { pid } = await at.sdk.daemonStatus();
  return Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "latin1"))?.[1]) / 1024;
}

describe("files that a sandbox can make", () => {
  it("deeper than any path, with names that are no text and folders closed to all: delete and the next daemon cope", async () => {
    const ids = [await create(), await create()];
    const deep = `my $d = "d" x 200; for (1..60) { mkdir $d or die $!; chdir $d or die $! } open my $f, ">", "end"; chdir "/workspace";
      mkdir "t"; chdir "t"; for (1..3000) { mkdir "d" or die $!; chdir "d" or die $! } open my $e, ">", "end"; chdir "/workspace";
      for my $n ("\\xff\\xfe", "a\\nb", "-rf", "\\x80" x 100) { mkdir $n or die $!; open my $g, ">", "$n/\\xc3("; chmod 0, $n or die $! }`;
    for (const id of ids)
      expect(await at.sdk.execWorkspace(id, { command: ["perl", "-e", deep] })).toMatchObject({
        exit_code: 0,
        stderr: "",
      });
    const { entries } = await at.sdk.diffWorkspace(ids[0] ?? "");
    expect(entries.filter(({ artifact_type: type }) => type === "directory").length).toBeGreaterThanOrEqual(2);
    expect((await at.sdk.summarizeWorkspace(ids[0] ?? "")).changes.available).toBe(true);
    await at.sdk.createSnapshot(ids[0] ?? "", "deep");
    await at.sdk.resetWorkspace(ids[0] ?? "", { snapshot: "deep" });
    const fork = (await at.sdk.forkWorkspace(ids[0] ?? "")).workspace_id;
    const down = 'chdir "t"; for (1..3000) { chdir "d" or die $! } print -e "end" ? "whole" : "cut"';
    expect((await at.sdk.execWorkspace(fork, { command: ["perl", "-e", down] })).stdout).toBe("whole");
    await at.sdk.deleteWorkspace(fork);
    await killDaemon(at);
    expect((await at.sdk.listWorkspaces()).workspaces.map((one) => one.state)).toEqual(["started", "started"]);
    for (const id of ids) {
      await at.sdk.deleteWorkspace(id);
      expect(existsSync(join(at.home, "workspaces", id))).toBe(false);
    }
    expect(readdirSync(join(at.home, "layers"))).toEqual([]);
  });

  it("2,500 hard links to a text of 1 MiB: a diff is bounded, and lists them all", async () => {
    const id = await create();
    await sh(id, "seq 1 150000 | head -c 1048576 > t; for i in $(seq 2499); do ln t l$i; done");
    const before = await daemonMib();
    const diff = await at.sdk.diffWorkspace(id);
    expect(diff.summary.added).toBe(2500);
    expect(diff.patch.length).toBeLessThan(64 * 1024 * 1024);
    expect((await daemonMib()) - before, "MiB").toBeLessThan(400);
    await at.sdk.deleteWorkspace(id);
  });

  it("a folder closed to its owner hides what is in it and nothing else", async () => {
    const id = await create();
    await sh(
      id,
      "mkdir shut open; echo x > shut/in; echo y > open/out; echo z > top; chmod 000 shut; echo s > unreadable; chmod 000 unreadable",
    );
    const { entries } = await at.sdk.diffWorkspace(id);
    const shown = entries.map((one) => one.path.slice(11));
    for (const name of ["open/out", "top", "unreadable"]) expect(shown).toContain(name);
    expect((await at.sdk.summarizeWorkspace(id)).changes.available).toBe(true);
    await at.sdk.createSnapshot(id, "shut");
    await at.sdk.resetWorkspace(id, { snapshot: "shut" });
    expect(await sh(id, "stat -c %a shut unreadable; chmod 700 shut; cat shut/in top")).toBe("0\n0\nx\nz\n");
    await at.sdk.deleteWorkspace(id);
  });

  it("a sparse file of 3 TB: no export of it begins, and none leaves anything", async () => {
    const id = await create();
    await sh(id, "mkdir d; truncate -s 3T d/huge; echo small > d/small");
    const out = at.path("out");
    for (const path of ["d", "d/huge"])
      await expect(at.sdk.exportWorkspace(id, path, { output_path: out })).rejects.toThrow(failing("FILE_TOO_LARGE"));
    await at.sdk.stopWorkspace(id);
    for (const format of ["tar", "ext4"] as const)
      await expect(at.sdk.exportWorkspaceDisk(id, { output_path: out, format })).rejects.toThrow(
        failing("FILE_TOO_LARGE"),
      );
    expect(readdirSync(at.root)).toEqual(["h"]);
    await at.sdk.deleteWorkspace(id);
  });
});

/** The answer of a guest that says hello, and nothing else ever. */
const HELLO = Buffer.concat([
  Buffer.from([0x21, 0, 0, 0, 0x81, 0, 0, 0, 0]),
  Buffer.from([0x43, 0x4c, 0x43, 0x48, 1, 0, 0, 0]),
  Buffer.alloc(20, 1),
]);

/** Two signals may be one to a process that has not yet got to the first, on a machine that is busy: then it is asked again. */
function signalUntilItEnds(child: ChildProcess, signal: NodeJS.Signals): void {
  child.kill(signal);
  const again = setInterval(() => child.kill(signal), 500);
  child.once("exit", () => clearInterval(again));
}

describe("a guest that does not answer", () => {
  it("holds up neither the daemon's start nor another workspace, and a command in it ends with SANDBOX_LOST", async () => {
    const bad = await create();
    const good = await create();
    await killDaemon(at);
    const socketPath = join(sandboxFolder(at.home, bad), "guest.sock");
    renameSync(socketPath, `${socketPath}.real`);
    const silent = createServer((socket) => void socket.on("error", () => undefined).write(HELLO)).listen(socketPath);
    await once(silent, "listening");
    try {
      expect((await at.sdk.listWorkspaces()).count).toBe(2);
      const lost = at.sdk.execWorkspace(bad, { command: "true", timeout_seconds: 1 });
      lost.catch(() => undefined);
      expect((await at.sdk.execWorkspace(good, { command: "echo fine" })).stdout).toBe("fine\n");
      await expect(lost).rejects.toThrow(failing("SANDBOX_LOST", "does not answer"));
      expect((await at.sdk.statusWorkspace(bad)).state).toBe("started");
    } finally {
      silent.close();
      rmSync(socketPath, { force: true });
      renameSync(`${socketPath}.real`, socketPath);
    }
    for (const id of [bad, good]) await at.sdk.deleteWorkspace(id);
  });

  it("because it is stopped: a second signal ends the CLI, and reset and delete work", async () => {
    const ids = [await create(), await create()];
    const [id = "", other = ""] = ids;
    const children = [
      ["SIGTERM", id],
      ["SIGINT", other],
    ].map(([signal = "", one = ""]) => {
      const child = spawn(
        process.execPath,
        [join(PROJECT, "dist/cli/main.js"), "workspace", "exec", one, "--", "sh", "-c", "echo begun; sleep 60"],
        {
          env: at.env,
          stdio: ["ignore", "pipe", "pipe"],
        },
      );
      return { child, signal: signal as NodeJS.Signals, begun: once(child.stdout, "data"), ended: once(child, "exit") };
    });
    await Promise.all(children.map((one) => one.begun));
    for (const one of ids) for (const pid of guestPids(at.home, one)) process.kill(pid, "SIGSTOP");
    for (const { child, signal, ended } of children) {
      signalUntilItEnds(child, signal);
      expect((await ended)[0]).not.toBe(0);
    }
    await at.sdk.resetWorkspace(other);
    expect((await at.sdk.execWorkspace(other, { command: "echo new" })).stdout).toBe("new\n");
    for (const one of ids) await at.sdk.deleteWorkspace(one);
  });

  it("and neither does a daemon that is stopped hold the CLI at a second signal", async () => {
    const id = await create();
    const child = spawn(
      process.execPath,
      [join(PROJECT, "dist/cli/main.js"), "workspace", "exec", id, "--", "sh", "-c", "echo begun; sleep 60"],
      {
        env: at.env,
        stdio: ["ignore", "pipe", "pipe"],
      },
    );
    await once(child.stdout, "data");
    const { pid } = await at.sdk.daemonStatus();
    const daemon = identifyProcess(pid ?? 0);
    if (!daemon) throw new Error("no daemon");
    process.kill(daemon.pid, "SIGSTOP");
    try {
      const ended = once(child, "exit");
      signalUntilItEnds(child, "SIGTERM");
      expect((await ended)[0]).toBe(1);
    } finally {
      process.kill(daemon.pid, "SIGCONT");
    }
    expect(isProcessAlive(daemon)).toBe(true);
    await eventually(async () =>
      expect((await at.sdk.execWorkspace(id, { command: "pgrep -fc '[s]leep 60' || true" })).stdout).toBe("0\n"),
    );
    await at.sdk.deleteWorkspace(id);
  });
});
