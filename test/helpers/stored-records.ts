import type { StoredService, StoredShell, StoredSnapshot, StoredWorkspace } from "../../src/contracts/store.ts";
import type { JournalEntry } from "../../src/model/exec.ts";
import { NO_MODEL_USAGE } from "../../src/model/model-usage.ts";
import type { NewEvent } from "../../src/contracts/events.ts";

// Records of the store with ordinary values, for tests that care about some of them.
export const workspace = (id: string, fields: Partial<StoredWorkspace> = {}): StoredWorkspace => ({
  workspaceId: id,
  name: null,
  labels: { team: "a=b" },
  environment: "host",
  backend: "container",
  state: "started",
  stateReason: null,
  networkPolicy: "off",
  createdAt: 100.25,
  lastActivityAt: 100.25,
  ttlSeconds: 3600,
  keep: false,
  graceSeconds: null,
  expired: null,
  unchanged: false,
  limits: { vcpuCount: 1, memMib: 2048, pids: 512, diskMib: undefined },
  ociRuntime: null,
  idempotencyKey: null,
  resetCount: 0,
  seed: { mode: "empty", seed_path: null, origin_kind: null, origin_ref: null, left_out: null, included: null },
  baseline: "/cache/seeds/x",
  layers: [],
  baseLayers: [],
  forkLayers: null,
  generation: 1,
  sessionStartedAt: 100.25,
  secrets: [],
  doors: [],
  allowHosts: [],
  egress: null,
  modelUsage: { total: NO_MODEL_USAGE, session: NO_MODEL_USAGE },
  wall: null,
  ...fields,
});

export const entry = (fields: Partial<JournalEntry> = {}): Omit<JournalEntry, "sequence" | "state"> => ({
  workspace_id: "ws-a",
  command: ["printf", "x"],
  cwd: "/workspace",
  exit_code: 0,
  stdout: "",
  stderr: "",
  stdout_truncated: false,
  stderr_truncated: false,
  timed_out: false,
  duration_ms: 0,
  execution_mode: "guest_socket",
  started_at: 5,
  ...fields,
});

export const snapshot = (name: string, fields: Partial<StoredSnapshot> = {}): StoredSnapshot => ({
  snapshotName: name,
  createdAt: 10.5,
  sizeBytes: 4096,
  layers: [],
  session: null,
  ...fields,
});

export const service = (name: string, fields: Partial<StoredService> = {}): StoredService => ({
  serviceName: name,
  command: ["sleep", "600"],
  cwd: "/workspace",
  readiness: { type: "tcp", port: 8080 },
  state: "running",
  startedAt: 1.5,
  readyAt: 2.5,
  endedAt: null,
  exitCode: null,
  publishedPorts: [{ guest_port: 8080, host_port: 40_000, host: "127.0.0.1" }],
  ...fields,
});

export const shell = (id: string, fields: Partial<StoredShell> = {}): StoredShell => ({
  shellId: id,
  cwd: "/workspace",
  cols: 120,
  rows: 30,
  state: "running",
  exitCode: null,
  openedAt: 3.5,
  ...fields,
});

export const written = (path: string, workspaceId = "ws-a"): NewEvent => ({
  kind: "file.written",
  workspace_id: workspaceId,
  path,
  bytes_written: 3,
});
