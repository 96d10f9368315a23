import { NO_MODEL_USAGE } from "../../model/model-usage.ts";
import { expect, it } from "vitest";
import type { CommandOutline, Summary } from "../../model/summary.ts";
import { formatSummary } from "./summary-markdown.ts";

const outline = (command: CommandOutline["command"], fields: Partial<CommandOutline> = {}): CommandOutline => ({
  sequence: 1,
  state: "done",
  command,
  exit_code: 0,
  timed_out: false,
  duration_ms: 12,
  started_at: 1,
  ...fields,
});

const failed = outline("exit 5", { sequence: 2, exit_code: 5 });
const counts = { total: 4, added: 1, modified: 1, deleted: 1, renamed: 1, type_changed: 0 };
const file = { artifact_type: "file", size_bytes: 1 } as const;
const summary: Summary = {
  workspace_id: "ws-0123456789",
  name: "fix",
  labels: {},
  environment: "host",
  state: "started",
  last_activity_at: 2,
  session_started_at: 1,
  outcome: {
    command_count: 12,
    last_command: failed,
    service_count: 2,
    running_service_count: 1,
    shell_count: 1,
    export_count: 1,
    snapshot_count: 1,
    reset_count: 1,
  },
  commands: { total: 12, recent: [outline(["npm", "test", "a b"], { duration_ms: 1400 }), failed] },
  edits: { recent: [] },
  changes: {
    available: true,
    reason: null,
    changed: true,
    summary: counts,
    ignored_count: 0,
    entries: [
      { ...file, path: "/workspace/new.txt", status: "added" },
      { ...file, path: "/workspace/src/a.ts", status: "modified" },
      { ...file, path: "/workspace/old.txt", status: "deleted" },
      { ...file, path: "/workspace/b.txt", old_path: "/workspace/a.txt", status: "renamed" },
    ],
  },
  services: {
    current: [
      { service_name: "db", state: "failed", exit_code: 3 },
      { service_name: "web", state: "running", exit_code: null },
    ],
    recent: [],
  },
  shells: { current: [{ shell_id: "sh-1", state: "running", cwd: "/workspace/src", opened_at: 1 }] },
  artifacts: {
    exports: [{ workspace_path: "/workspace/dist", output_path: "/tmp/dist", artifact_type: "directory", at: 1 }],
  },
  model_usage: NO_MODEL_USAGE,
  snapshots: {
    named_count: 1,
    recent: [{ snapshot_name: "mid", kind: "named", live: false, created_at: 1, size_bytes: 2048 }],
  },
};

it("reads as Markdown: a heading, one line, and what happened", () => {
  expect(formatSummary(summary)).toBe(
    [
      "## Workspace `fix` (`ws-0123456789`)",
      "",
      "started on `host` · 12 commands, the last **exit 5** · 4 changes · 1 of 2 services running · 1 export · 1 snapshot · reset once",
      "",
      "### Changes",
      "",
      "- `+ new.txt`",
      "- `~ src/a.ts`",
      "- `- old.txt`",
      "- `→ b.txt` (was `a.txt`)",
      "",
      "### Commands (last 2 of 12)",
      "",
      "- `npm test 'a b'`: done, 1.4 s",
      "- `exit 5`: **exit 5**, 12 ms",
      "",
      "### Services",
      "",
      "- `db`: **failed**, exit 3",
      "- `web`: running",
      "",
      "### Shells",
      "",
      "- `sh-1`: running in `/workspace/src`",
      "",
      "### Exports",
      "",
      "- `dist` to `/tmp/dist`",
      "",
      "### Snapshots",
      "",
      "- `mid` (2.0 KiB)",
    ].join("\n"),
  );
});

it("tells which snapshots have kept what ran", () => {
  const [mid] = summary.snapshots.recent;
  const live = { ...summary, snapshots: { named_count: 1, recent: [{ ...mid!, live: true }] } };
  expect(formatSummary(live)).toMatch(/- `mid` \(2\.0 KiB, live\)$/);
});

it("leaves out what did not happen, and says why changes are not known", () => {
  const nothing: Summary = {
    ...summary,
    name: null,
    outcome: { ...summary.outcome, command_count: 0, last_command: null, service_count: 0, export_count: 0 },
    commands: { total: 0, recent: [] },
    changes: { ...summary.changes, available: false, reason: "it is stopped", entries: [] },
    services: { current: [], recent: [] },
    shells: { current: [] },
    artifacts: { exports: [] },
    snapshots: { named_count: 0, recent: [] },
  };
  expect(formatSummary(nothing)).toBe(
    [
      "## Workspace `ws-0123456789`",
      "",
      "started on `host` · 0 commands · 1 snapshot · reset once",
      "",
      "### Changes",
      "",
      "- not available: `it is stopped`",
    ].join("\n"),
  );
});

it("gives a sandbox's names no say in the format or the terminal", () => {
  const path = "/workspace/a``b`\n## Approved\u001B[2J <img src=x>";
  const evil: Summary = {
    ...summary,
    changes: { ...summary.changes, summary: { ...counts, total: 1 }, entries: [{ ...file, path, status: "added" }] },
    commands: { total: 1, recent: [outline(`echo ${"`x`".repeat(100)}`, { timed_out: true, exit_code: 137 })] },
  };
  const text = formatSummary(evil);
  expect(text).toContain("- ``` + a``b`\\n## Approved\\x1b[2J <img src=x> ```\n");
  expect(text).toMatch(/^- ``` echo `x``x`.{100,110}… ```?: \*\*timed out\*\*, 12 ms$/m);
  expect(text.split("\n").filter((line) => line.startsWith("#"))).toHaveLength(7);
});

it("names no more than fifty changes", () => {
  const entries = Array.from({ length: 200 }, (_, index) => ({
    ...file,
    path: `/workspace/${index}`,
    status: "added" as const,
  }));
  const many = { ...summary, changes: { ...summary.changes, summary: { ...counts, total: 300 }, entries } };
  const lines = formatSummary(many).split("\n");
  expect(lines).toContain("- and 250 more");
  expect(lines.filter((line) => line.startsWith("- `+ "))).toHaveLength(50);
});
