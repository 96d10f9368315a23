import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "libsql";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { workspace, entry, snapshot } from "../../test/helpers/stored-records.ts";
import { transpileProgram, type TranspiledProgram } from "../../test/helpers/transpile-program.ts";
import type { Store } from "../contracts/store.ts";
import { openStore } from "./open-store.ts";
import { MIGRATIONS } from "./schema.ts";

// These start processes, on a machine that may be busy.
vi.setConfig({ testTimeout: 30_000, hookTimeout: 30_000 });

let folder: string;
let file: string;
const opened: Store[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "cloche-store-"));
  file = join(folder, "store.sqlite");
});
afterEach(() => {
  for (const store of opened.splice(0)) store.close();
  rmSync(folder, { recursive: true });
});

function open(): Store {
  const store = openStore(file);
  if (store === "locked") throw new Error("locked");
  opened.push(store);
  return store;
}

function reopen(): Store {
  opened.pop()?.close();
  return open();
}

describe("workspaces", () => {
  it("come back from the disk as they were", () => {
    const wall = { kind: "bwrap", pid: 42, startTicks: "77", deep: { a: [1] } } as const;
    const stored = workspace("ws-a", {
      name: "first",
      wall,
      ociRuntime: "runsc",
      idempotencyKey: "once",
      layers: ["l-1", "l-2"],
      generation: 3,
      sessionStartedAt: 200.5,
      secrets: [{ name: "TOKEN", source_kind: "literal" }],
    });
    open().insertWorkspace(stored);
    expect(reopen().findWorkspace("ws-a")).toEqual(stored);
  });

  it("change only in the fields given, null included", () => {
    const store = open();
    store.insertWorkspace(workspace("ws-a", { name: "first" }));
    store.updateWorkspace("ws-a", { name: null, state: "failed", stateReason: "it ended", labels: {} });
    const changed = workspace("ws-a", { name: null, state: "failed", stateReason: "it ended", labels: {} });
    expect(store.findWorkspace("ws-a")).toEqual(changed);
  });

  it("that are not there are undefined to find and an error to update", () => {
    const store = open();
    expect(store.findWorkspace("ws-a")).toBeUndefined();
    expect(() => store.updateWorkspace("ws-a", {})).toThrow(expect.objectContaining({ code: "WORKSPACE_NOT_FOUND" }));
  });

  it("are found by a prefix in which nothing is a wildcard, and no more than asked for", () => {
    const store = open();
    for (const id of ["ws-aa1", "ws-aa2", "ws-aa3", "ws-b1"]) store.insertWorkspace(workspace(id));
    expect(store.findByPrefix("ws-aa", 2)).toEqual(["ws-aa1", "ws-aa2"]);
    expect(store.findByPrefix("ws-b", 2)).toEqual(["ws-b1"]);
    expect(store.findByPrefix("ws-%", 2)).toEqual([]);
    expect(store.findByPrefix("ws-_", 2)).toEqual([]);
  });

  it("are listed by newest activity, then newest creation, then id", () => {
    const store = open();
    store.insertWorkspace(workspace("ws-c", { lastActivityAt: 1, createdAt: 1 }));
    store.insertWorkspace(workspace("ws-b", { lastActivityAt: 1, createdAt: 1 }));
    store.insertWorkspace(workspace("ws-a", { lastActivityAt: 1, createdAt: 0 }));
    store.insertWorkspace(workspace("ws-d", { lastActivityAt: 2, createdAt: 0 }));
    expect(store.listWorkspaces().map((one) => one.workspaceId)).toEqual(["ws-d", "ws-b", "ws-c", "ws-a"]);
  });
});

describe("the journal", () => {
  it("counts up for each workspace and keeps what is not text", () => {
    const store = open();
    store.insertWorkspace(workspace("ws-a"));
    store.insertWorkspace(workspace("ws-b"));
    expect(store.beginCommand("ws-a", entry())).toBe(1);
    expect(store.beginCommand("ws-a", entry({ command: "second" }))).toBe(2);
    expect(store.beginCommand("ws-b", entry())).toBe(1);
    const end = { exit_code: 3, stdout: "a\0b\u{1f600}", stderr: "", stdout_truncated: true, duration_ms: 1.5 };
    store.endCommand("ws-a", 1, end, 200);
    const [first, second] = reopen().listCommands("ws-a");
    expect(first).toEqual({ ...entry(), ...end, sequence: 1, state: "done" });
    expect(second).toMatchObject({ sequence: 2, state: "running", command: "second" });
    expect(opened[0]!.countCommands("ws-a")).toBe(2);
  });

  it("tells the last commands in outline, oldest first", () => {
    const store = open();
    store.insertWorkspace(workspace("ws-a"));
    for (const command of ["one", ["two"], "three"]) store.beginCommand("ws-a", entry({ command, stdout: "much" }));
    store.endCommand("ws-a", 2, { exit_code: 3, timed_out: true, duration_ms: 2.5 }, 1);
    const shared = { exit_code: 0, timed_out: false, duration_ms: 0, started_at: 5 };
    expect(store.outlineCommands("ws-a", 2)).toEqual([
      { ...shared, sequence: 2, state: "done", command: ["two"], exit_code: 3, timed_out: true, duration_ms: 2.5 },
      { ...shared, sequence: 3, state: "running", command: "three" },
    ]);
  });

  it("sets the workspace's last activity, never back", () => {
    const store = open();
    store.insertWorkspace(workspace("ws-a", { lastActivityAt: 100 }));
    const sequence = store.beginCommand("ws-a", entry());
    store.endCommand("ws-a", sequence, {}, 250.5);
    expect(store.findWorkspace("ws-a")?.lastActivityAt).toBe(250.5);
    store.endCommand("ws-a", sequence, {}, 50);
    expect(store.findWorkspace("ws-a")?.lastActivityAt).toBe(250.5);
  });

  it("lists what still runs, of all workspaces", () => {
    const store = open();
    store.insertWorkspace(workspace("ws-a"));
    store.insertWorkspace(workspace("ws-b"));
    store.endCommand("ws-a", store.beginCommand("ws-a", entry()), { state: "lost" }, 1);
    store.beginCommand("ws-a", entry());
    store.beginCommand("ws-b", entry({ workspace_id: "ws-b" }));
    const running = store.listRunningCommands().map((one) => `${one.workspace_id} ${one.sequence}`);
    expect(running).toEqual(["ws-a 2", "ws-b 1"]);
  });

  it("goes with its workspace, and refuses one that is not there", () => {
    const store = open();
    store.insertWorkspace(workspace("ws-a"));
    store.beginCommand("ws-a", entry());
    store.deleteWorkspace("ws-a");
    expect(store.listCommands("ws-a")).toEqual([]);
    expect(() => store.beginCommand("ws-a", entry())).toThrow(expect.objectContaining({ code: "WORKSPACE_NOT_FOUND" }));
    store.insertWorkspace(workspace("ws-a"));
    expect(() => store.endCommand("ws-a", 9, {}, 1)).toThrow(expect.objectContaining({ code: "COMMAND_NOT_FOUND" }));
  });
});

describe("the file", () => {
  it("is the user's alone, with its journal", () => {
    writeFileSync(file, "");
    chmodSync(file, 0o644);
    open().insertWorkspace(workspace("ws-a"));
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(`${file}-wal`).mode & 0o777).toBe(0o600);
  });

  it("that is no database is told with what to move away", () => {
    writeFileSync(file, "this is no database, whatever its name says\n".repeat(100));
    const told = {
      code: "INTERNAL",
      message: expect.stringContaining(file) as string,
      hint: expect.stringContaining(`Move "${file}"`) as string,
    };
    expect(() => openStore(file)).toThrow(expect.objectContaining(told));
  });

  it("of the first schema gets the columns and tables of today, and keeps its rows", () => {
    const old = new Database(file);
    old.exec(MIGRATIONS[0]!);
    old.exec(`PRAGMA user_version = 1;
      INSERT INTO workspaces VALUES ('ws-a', NULL, '{"team":"a=b"}', 'host', 'container', 'started', NULL, 'off', 100.25, 150,
        3600, '{"vcpuCount":1,"memMib":2048,"pids":512}', NULL, 0,
        '{"mode":"empty","seed_path":null,"origin_kind":null,"origin_ref":null}', '/cache/seeds/x', NULL)`);
    old.close();
    const store = open();
    expect(store.findWorkspace("ws-a")).toEqual(workspace("ws-a", { lastActivityAt: 150 }));
    expect(store.beginCommand("ws-a", entry())).toBe(1);
    expect(store.insertSnapshot("ws-a", snapshot("mid"))).toBe(true);
    expect(reopen().listSnapshots("ws-a")).toEqual([snapshot("mid")]);
  });

  it("of the schema whose events belonged to a workspace has them in the log, in their order", () => {
    const old = new Database(file);
    for (const sql of MIGRATIONS.slice(0, 4)) old.exec(sql);
    old.exec("PRAGMA user_version = 4; PRAGMA foreign_keys = OFF");
    const insert = old.prepare("INSERT INTO events (workspace_id, event) VALUES ('ws-a', ?)");
    const path = "/workspace/b\0\u{1f600}";
    const files = [{ path, status: "added" }];
    for (const event of [
      { kind: "file_write", at: 1.5, path, bytes_written: 3 },
      { kind: "patch_apply", at: 2, files },
      { kind: "sync_push", at: 3, source_path: "/a", dest: "/workspace", files: 2 },
      { kind: "export", at: 4, workspace_path: path, output_path: "/tmp/b", artifact_type: "file" },
      { kind: "service_start", at: 5, service_name: "web", exit_code: null },
      { kind: "service_failed", at: 6, service_name: "web", exit_code: 3 },
      { kind: "snapshot_create", at: 7, snapshot_name: "mid" },
    ])
      insert.run([JSON.stringify(event)]);
    old.close();
    const { events } = open().readEvents(0, {}, 100);
    const head = (sequence: number, time: number) => ({ sequence, time, workspace_id: "ws-a", identity: null });
    expect(events).toEqual([
      { ...head(1, 1.5), kind: "file.written", path, bytes_written: 3 },
      { ...head(2, 2), kind: "patch.applied", files, file_count: 1 },
      { ...head(3, 3), kind: "sync.pushed", source_path: "/a", dest: "/workspace", files: 2 },
      { ...head(4, 4), kind: "export.made", workspace_path: path, output_path: "/tmp/b", artifact_type: "file" },
      { ...head(5, 5), kind: "service.started", service_name: "web", command: "" },
      { ...head(6, 6), kind: "service.ended", service_name: "web", state: "failed", exit_code: 3 },
      { ...head(7, 7), kind: "snapshot.created", snapshot_name: "mid", live: false, size_bytes: 0 },
    ]);
  });

  it("of a newer cloche is refused and stays as it is", () => {
    const database = new Database(file);
    database.exec("PRAGMA user_version = 99");
    database.close();
    expect(() => openStore(file)).toThrow(
      expect.objectContaining({ hint: expect.stringContaining("Upgrade cloche") as string }),
    );
    const after = new Database(file);
    expect(after.pragma("user_version")).toEqual([{ user_version: 99 }]);
    after.close();
  });

  const isRoot = process.getuid?.() === 0;
  it.skipIf(!isRoot)(
    `on a full disk is DISK_FULL, and usable again later${isRoot ? "" : " (needs root for a mount)"}`,
    () => {
      const small = join(folder, "small");
      mkdirSync(small);
      expect(spawnSync("mount", ["-t", "tmpfs", "-o", "size=512k", "tmpfs", small]).status).toBe(0);
      try {
        file = join(small, "store.sqlite");
        const store = open();
        store.insertWorkspace(workspace("ws-a"));
        const filler = join(small, "filler");
        expect(() => writeFileSync(filler, Buffer.alloc(1024 * 1024))).toThrow("ENOSPC");
        const large = entry({ stdout: "x".repeat(100_000) });
        expect(() => store.beginCommand("ws-a", large)).toThrow(expect.objectContaining({ code: "DISK_FULL" }));
        rmSync(filler);
        expect(store.beginCommand("ws-a", large)).toBe(1);
        expect(store.listWorkspaces()).toHaveLength(1);
        opened.pop()?.close();
      } finally {
        // Lazily: statements that are not garbage yet keep the file open.
        spawnSync("umount", ["-l", small]);
      }
    },
  );
});

describe("the lock", () => {
  let program: TranspiledProgram;
  beforeAll(() => {
    program = transpileProgram("test/fixtures/store-writer.ts");
  });
  afterAll(() => program.remove());

  const say = async (child: ChildProcess): Promise<string> => {
    const [said] = (await once(child.stdout!, "data")) as [Buffer];
    return said.toString("utf8").trim();
  };
  const start = (count: number) =>
    spawn(process.execPath, [program.entry, file, String(count)], { stdio: ["ignore", "pipe", "inherit"] });

  it("keeps a second opener out, in this process and in another", async () => {
    const store = open();
    expect(openStore(file)).toBe("locked");
    expect(await say(start(0))).toBe("locked");
    store.insertWorkspace(workspace("ws-a"));
    expect(openStore(file)).toBe("locked");
  });

  it("is gone after kill -9 of its holder, and every commit is there", async () => {
    open().insertWorkspace(workspace("ws-0000000001"));
    opened.pop()?.close();
    const holder = start(300);
    expect(await say(holder)).toBe("committed");
    expect(openStore(file)).toBe("locked");
    holder.kill("SIGKILL");
    await once(holder, "exit");
    expect(open().countCommands("ws-0000000001")).toBe(300);
  });
});
