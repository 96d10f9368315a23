import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { entry, workspace, written } from "../../test/helpers/stored-records.ts";
import { silentLog } from "../base/log.ts";
import type { Store } from "../contracts/store.ts";
import { EventLog } from "../events/event-log.ts";
import { failure } from "../model/error-codes.ts";
import type { DiffOutline } from "./diff/diff-workspace.ts";
import { openStore } from "../store/open-store.ts";
import { Journal } from "./journal.ts";
import { summarizeWorkspace, type SummarySources } from "./summarize-workspace.ts";

let folder: string;
let store: Store;
let journal: Journal;
let events: EventLog;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "cloche-summary-"));
  const opened = openStore(join(folder, "store.sqlite"));
  if (opened === "locked") throw new Error("locked");
  store = opened;
  const clock = { now: () => 7 };
  events = new EventLog({ store, clock, log: silentLog });
  journal = new Journal({ store, events, clock, log: silentLog });
  store.insertWorkspace(
    workspace("ws-a", { name: "first", labels: { pr: "7" }, lastActivityAt: 9, sessionStartedAt: 5, resetCount: 2 }),
  );
});
afterEach(() => {
  events.close();
  store.close();
  rmSync(folder, { recursive: true });
});

const diffOf = (paths: readonly string[]): DiffOutline => ({
  workspace_id: "ws-a",
  changed: paths.length > 0,
  summary: { total: paths.length, added: paths.length, modified: 0, deleted: 0, renamed: 0, type_changed: 0 },
  entries: paths.map((path) => ({ path, status: "added", artifact_type: "file", size_bytes: 1 })),
  ignored_count: 3,
});

const summarize = (sources: Partial<SummarySources> = {}) =>
  summarizeWorkspace({ store, journal, events }, "ws-a", {
    diff: () => Promise.resolve(diffOf([])),
    services: [],
    shells: [],
    ...sources,
  });

function run(command: string): void {
  const sequence = journal.begin("ws-a", entry({ command }));
  journal.end("ws-a", sequence, { exit_code: 5, duration_ms: 3 });
}

it("tells what happened, the last command included that is not in the store yet", async () => {
  run("exit 5");
  events.record(written("/workspace/before-the-reset"));
  events.record({ kind: "workspace.reset", workspace_id: "ws-a", snapshot_name: "baseline", reset_count: 2 });
  events.record(written("/workspace/a"));
  events.record(written("/workspace/elsewhere", "ws-b"));
  events.record({ kind: "service.started", workspace_id: "ws-a", service_name: "web", command: "npm start" });
  const exported = { workspace_path: "/workspace/a", output_path: "/tmp/a", artifact_type: "file" } as const;
  events.record({ kind: "export.made", workspace_id: "ws-a", ...exported });
  store.insertSnapshot("ws-a", { snapshotName: "mid", createdAt: 6, sizeBytes: 40, layers: [], session: null });
  const services = [
    { service_name: "db", state: "failed", exit_code: 3 },
    { service_name: "web", state: "running", exit_code: null },
  ] as const;
  const summary = await summarize({ services, diff: () => Promise.resolve(diffOf(["/workspace/a"])) });
  const last = { sequence: 1, state: "done", command: "exit 5", exit_code: 5, timed_out: false, duration_ms: 3 };
  expect(summary).toMatchObject({
    workspace_id: "ws-a",
    name: "first",
    labels: { pr: "7" },
    environment: "host",
    state: "started",
    last_activity_at: 9,
    session_started_at: 5,
    outcome: {
      command_count: 1,
      last_command: last,
      service_count: 2,
      running_service_count: 1,
      export_count: 1,
      snapshot_count: 1,
      reset_count: 2,
    },
    commands: { total: 1, recent: [last] },
    services: { current: services, recent: [{ kind: "service.started", service_name: "web" }] },
    snapshots: {
      named_count: 1,
      recent: [{ snapshot_name: "mid", kind: "named", live: false, created_at: 6, size_bytes: 40 }],
    },
  });
  expect(summary.edits.recent).toMatchObject([{ ...written("/workspace/a"), time: 7 }]);
  expect(summary.artifacts.exports).toEqual([{ ...exported, at: 7 }]);
  expect(summary.changes).toMatchObject({ available: true, reason: null, changed: true, summary: { total: 1 } });
  expect(summary.changes.entries).toEqual([
    { path: "/workspace/a", status: "added", artifact_type: "file", size_bytes: 1 },
  ]);
});

it("is bounded, keeps the newest, and counts all", async () => {
  for (let index = 0; index < 30; index++) {
    run(`echo ${index}`);
    events.record(written(`/workspace/${index}`));
    events.record({
      kind: "service.ended",
      workspace_id: "ws-a",
      service_name: "web",
      state: "stopped",
      exit_code: 0,
    });
    events.record({
      kind: "export.made",
      workspace_id: "ws-a",
      workspace_path: "/workspace/a",
      output_path: `/tmp/${index}`,
      artifact_type: "file",
    });
    store.insertSnapshot("ws-a", {
      snapshotName: `s${index}`,
      createdAt: index,
      sizeBytes: 1,
      layers: [],
      session: null,
    });
  }
  const paths = Array.from({ length: 300 }, (_, index) => `/workspace/${index}`);
  const { outcome, commands, edits, services, artifacts, snapshots, changes } = await summarize({
    diff: () => Promise.resolve(diffOf(paths)),
  });
  expect(outcome).toMatchObject({ command_count: 30, export_count: 30, snapshot_count: 30 });
  const lengths = [commands, edits, services, snapshots].map(({ recent }) => recent.length);
  expect([...lengths, artifacts.exports.length, changes.entries.length]).toEqual([10, 20, 20, 10, 20, 200]);
  expect(changes.summary.total).toBe(300);
  expect(commands.recent.at(-1)).toMatchObject({ command: "echo 29", sequence: 30 });
  expect(edits.recent.at(-1)).toMatchObject({ path: "/workspace/29" });
  expect(snapshots.recent.at(-1)).toMatchObject({ snapshot_name: "s29" });
});

it("says why changes are not known, and fails only for what nobody foresaw", async () => {
  const none = { available: false, changed: false, entries: [], summary: { total: 0, added: 0, type_changed: 0 } };
  const stopped = await summarize({ diff: () => Promise.resolve({ reason: "The workspace is stopped" }) });
  expect(stopped.changes).toMatchObject({ ...none, reason: "The workspace is stopped" });
  const lost = await summarize({ diff: () => Promise.reject(failure("SANDBOX_LOST", "It is gone")) });
  expect(lost.changes).toMatchObject({ ...none, reason: "It is gone" });
  await expect(summarize({ diff: () => Promise.reject(new TypeError("oops")) })).rejects.toThrow("oops");
  store.deleteWorkspace("ws-a");
  await expect(summarize()).rejects.toMatchObject({ code: "WORKSPACE_NOT_FOUND" });
});
