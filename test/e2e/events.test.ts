import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { once } from "node:events";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { ClocheEvent } from "../../src/model/event.ts";
import type { EventWatch } from "../../src/sdk/options.ts";
import { type Installation, PROJECT, withInstallation } from "../helpers/installation.ts";
import { guestPids, killDaemon } from "../helpers/running-daemon.ts";

/** The events that come, until one of that kind has. */
async function until(watch: EventWatch, kind: ClocheEvent["kind"]): Promise<ClocheEvent[]> {
  const seen: ClocheEvent[] = [];
  for await (const event of watch) {
    seen.push(event);
    if (event.kind === kind) break;
  }
  return seen;
}

const all = async (at: Installation, options: Parameters<Installation["sdk"]["watch"]>[0] = {}) => {
  const seen: ClocheEvent[] = [];
  for await (const event of at.sdk.watch({ follow: false, ...options })) seen.push(event);
  return seen;
};
const kindsOf = (events: readonly ClocheEvent[]) => events.map(({ kind }) => kind);

describe("the life of a workspace", () => {
  it("is told as it happens, and can be read when the workspace is gone", async () => {
    await withInstallation(async (at) => {
      const { sdk } = at;
      const watch = sdk.watch();
      expect(await watch.ready).toBe(0);
      const seen = until(watch, "workspace.deleted");
      const { workspace_id: id } = await sdk.createWorkspace({ environment: "host", name: "first" });
      await sdk.execWorkspace(id, { command: "exit 3" });
      await sdk.writeWorkspaceFile(id, "a.txt", { text: "abc\n" });
      await sdk.applyWorkspacePatch(id, { patch: "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-abc\n+def\n" });
      await sdk.pushWorkspaceSync(id, join(PROJECT, "examples/demo-project"), { dest: "demo" });
      await sdk.exportWorkspace(id, "a.txt", { output_path: at.path("a.txt") });
      await sdk.createSnapshot(id, "mid");
      await sdk.startService(id, "web", { command: ["sleep", "600"] });
      await sdk.stopService(id, "web");
      const { shell_id } = await sdk.openShell(id);
      await sdk.closeShell(id, shell_id);
      await sdk.updateWorkspace(id, { labels: { team: "a" } });
      await sdk.resetWorkspace(id, { snapshot: "mid" });
      await sdk.deleteSnapshot(id, "mid");
      await sdk.stopWorkspace(id);
      await sdk.exportWorkspaceDisk(id, { output_path: at.path("disk.tar") });
      await sdk.startWorkspace(id);
      await sdk.deleteWorkspace(id);
      const told = await seen;
      expect(kindsOf(told)).toEqual([
        "workspace.created",
        "command.started",
        "command.ended",
        "file.written",
        "patch.applied",
        "sync.pushed",
        "export.made",
        "snapshot.created",
        "service.started",
        "service.ready",
        "service.ended",
        "shell.opened",
        "shell.closed",
        "workspace.updated",
        "workspace.reset",
        "snapshot.deleted",
        "workspace.stopped",
        "disk.exported",
        "workspace.started",
        "workspace.deleted",
      ]);
      expect(told.every((event) => event.workspace_id === id && event.identity === null)).toBe(true);
      expect(told.map(({ sequence }) => sequence)).toEqual(told.map((_, index) => index + 1));
      expect(told[0]).toMatchObject({ name: "first", environment: "host", backend: "container" });
      expect(told[2]).toMatchObject({ command_sequence: 1, state: "done", exit_code: 3, timed_out: false });
      expect(await all(at, { workspace_id: id })).toEqual(told);
      expect(kindsOf(await all(at, { since: 1, kinds: ["command.ended", "workspace.reset"] }))).toEqual([
        "command.ended",
        "workspace.reset",
      ]);
      await expect(all(at, { workspace_id: "ws-0000000000" })).rejects.toMatchObject({ code: "WORKSPACE_NOT_FOUND" });
      await expect(all(at, { since: 99 })).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    });
  });

  it("is told of one that expires, and of one that fails", async () => {
    await withInstallation(async (at) => {
      const watch = at.sdk.watch();
      await watch.ready;
      const seen = until(watch, "workspace.deleted");
      await at.sdk.createWorkspace({ environment: "host", ttl_seconds: 0.5 });
      expect(kindsOf(await seen)).toEqual(["workspace.created", "workspace.expired", "workspace.deleted"]);
      const { workspace_id: id } = await at.sdk.createWorkspace({ environment: "host" });
      const { shell_id } = await at.sdk.openShell(id);
      const next = at.sdk.watch();
      await next.ready;
      const failing = until(next, "shell.closed");
      for (const pid of guestPids(at.home, id)) process.kill(pid, "SIGKILL");
      expect(await failing).toMatchObject([
        { kind: "workspace.failed", workspace_id: id },
        { kind: "shell.closed", shell_id },
      ]);
    });
  });
});

describe("a watcher", () => {
  it("goes on after kill -9 of the daemon: each event once, and the end of a command that the next daemon took up", async () => {
    await withInstallation(async (at) => {
      const { workspace_id: id } = await at.sdk.createWorkspace({ environment: "host" });
      const watch = at.sdk.watch({ since: 0, workspace_id: id });
      const seen: ClocheEvent[] = [];
      const watching = (async () => {
        for await (const event of watch) {
          seen.push(event);
          if (event.kind === "file.written") break;
        }
      })();
      const stream = at.sdk.openCommand(id, { command: "read line; exit 4", stdin: true });
      await stream.sequence;
      for (let round = 0; round < 3; round++) {
        await at.sdk.execWorkspace(id, { command: ["true"] });
        await killDaemon(at);
      }
      await stream.close();
      await at.sdk.writeWorkspaceFile(id, "last", { text: "x" });
      await watching;
      const log = await all(at, { since: 0, workspace_id: id });
      expect(seen).toEqual(log);
      const started = log.filter(({ kind }) => kind === "command.started");
      const ended = log.filter(({ kind }) => kind === "command.ended");
      expect(started).toHaveLength(4);
      expect(new Set(ended.map((event) => "command_sequence" in event && event.command_sequence)).size).toBe(
        ended.length,
      );
    });
  });

  it("does not start a daemon that somebody stopped, and goes on when somebody starts one", async () => {
    await withInstallation(async (at) => {
      const { workspace_id: id } = await at.sdk.createWorkspace({ environment: "host" });
      const watch = at.sdk.watch();
      await watch.ready;
      const seen = until(watch, "file.written");
      await at.cli(["daemon", "stop"]);
      await new Promise((done) => setTimeout(done, 300)); // time in which it would start one
      expect(await at.sdk.daemonStatus()).toMatchObject({ running: false });
      await at.cli(["workspace", "file", "write", id, "a", "--text", "x"]);
      expect(kindsOf(await seen)).toEqual(["file.written"]);
    });
  });

  it("of one home hears nothing of another", async () => {
    await withInstallation(async (one) => {
      await withInstallation(async (other) => {
        const watch = one.sdk.watch();
        await watch.ready;
        const seen = until(watch, "workspace.created");
        await other.sdk.createWorkspace({ environment: "host", name: "other" });
        await one.sdk.createWorkspace({ environment: "host", name: "one" });
        expect(await seen).toMatchObject([{ sequence: 1, name: "one" }]);
      });
    });
  });

  it("that does not read holds nothing up and misses nothing", async () => {
    await withInstallation(async (at) => {
      const { workspace_id: id } = await at.sdk.createWorkspace({ environment: "host" });
      const watch = at.sdk.watch();
      await watch.ready;
      // More than every buffer on the way has room for.
      const path = `/workspace/${"x".repeat(200)}/${"y".repeat(200)}`;
      const lanes = Array.from({ length: 8 }, async () => {
        for (let number = 0; number < 250; number++) await at.sdk.writeWorkspaceFile(id, path, { text: "x" });
      });
      await Promise.all(lanes);
      await at.sdk.updateWorkspace(id, { name: "done" });
      const seen = await until(watch, "workspace.updated");
      expect(seen).toHaveLength(2001);
      expect(new Set(seen.map(({ sequence }) => sequence)).size).toBe(2001);
    });
  });

  it("ends with its signal, and with its client", async () => {
    await withInstallation(async (at) => {
      const enough = new AbortController();
      const first = at.sdk.watch({ signal: enough.signal });
      await first.ready;
      const waiting = until(first, "run.ended");
      enough.abort();
      await expect(waiting).rejects.toMatchObject({ code: "CANCELLED" });
      await using second = at.sdk.watch();
      await second.ready;
      await second.close();
      expect(await until(second, "run.ended")).toEqual([]);
    });
  });
});

describe("cloche events", () => {
  it("prints what is kept: a line each, or one document", async () => {
    await withInstallation(async (at) => {
      expect(await at.cli(["events"])).toMatchObject({ code: 0, stdout: "", stderr: "No events\n" });
      const { workspace_id: id } = await at.sdk.createWorkspace({ environment: "host", name: "first" });
      await at.sdk.execWorkspace(id, { command: ["echo", "two words"] });
      const { stdout } = await at.cli(["events", id.slice(0, 6)]);
      const lines = stdout.trimEnd().split("\n");
      expect(lines).toHaveLength(3);
      expect(lines[0]).toMatch(new RegExp(`^1  \\d{4}-.* ${id}  workspace.created  first host on container$`));
      expect(lines[1]).toMatch(/ {2}command\.started {2}\[1\] echo 'two words'$/);
      expect(lines[2]).toMatch(/ {2}command\.ended {2}\[1\] exit 0, \d+ ms$/);
      const json = await at.cli(["events", "--json", "--since", "1", "--kind", "command.ended"]);
      expect(json.json()).toMatchObject({ count: 1, events: [{ sequence: 3, kind: "command.ended", exit_code: 0 }] });
      const bad = await at.cli(["events", "--kind", "command.eaten"]);
      expect(bad).toMatchObject({ code: 2, stderr: expect.stringContaining("command.ended") as string });
    });
  });

  it("--follow --json prints one object a line as it happens, and ends with its reader", async () => {
    await withInstallation(async (at) => {
      const { workspace_id: id } = await at.sdk.createWorkspace({ environment: "host" });
      const args = [join(PROJECT, "dist/cli/main.js"), "events", id, "--follow", "--json", "--since", "0"];
      const child = spawn(process.execPath, args, { env: at.env, stdio: ["ignore", "pipe", "inherit"] });
      const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
      const next = async () => JSON.parse((await lines.next()).value as string) as ClocheEvent;
      expect(await next()).toMatchObject({ sequence: 1, kind: "workspace.created", workspace_id: id });
      await at.sdk.writeWorkspaceFile(id, "a", { text: "x" });
      expect(await next()).toMatchObject({ sequence: 2, kind: "file.written", path: "/workspace/a" });
      child.stdout.destroy();
      await at.sdk.writeWorkspaceFile(id, "b", { text: "x" });
      await once(child, "exit");
    });
  });
});
