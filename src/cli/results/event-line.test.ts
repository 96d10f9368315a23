import { expect, it } from "vitest";
import type { ClocheEvent } from "../../model/event.ts";
import { createColours } from "../output/colour.ts";
import { formatEvent } from "./event-line.ts";

const head = { sequence: 7, time: 1_700_000_000, workspace_id: "ws-0123456789", identity: null };
const shown = (event: ClocheEvent, colour = false) =>
  formatEvent(event, createColours(colour)).split("  ").slice(2).join("  ");

it("tells when, about what, which kind and what is worth knowing, on one line", () => {
  const event: ClocheEvent = { ...head, kind: "file.written", path: "/workspace/a\n\u001b[2Jb", bytes_written: 2048 };
  expect(formatEvent(event, createColours(false))).toMatch(
    /^7 {2}\d{4}-\d\d-\d\d \d\d:\d\d:\d\d {2}ws-0123456789 {2}file/,
  );
  expect(shown(event)).toBe("ws-0123456789  file.written  /workspace/a\\n\\x1b[2Jb (2.0 KiB)");
});

it("names the run where there is one, and nobody where there is none", () => {
  expect(
    shown({
      ...head,
      identity: "reviewer-k3x9a",
      kind: "run.ended",
      exit_code: 2,
      kept: true,
      reason: null,
      has_changes: false,
    }),
  ).toBe("reviewer-k3x9a  run.ended  exit 2");
  expect(shown({ ...head, workspace_id: null, kind: "log.gap", first_missing: 1, last_missing: 6 })).toBe(
    "-  log.gap  1 to 6 are no longer kept",
  );
  expect(shown({ ...head, kind: "workspace.stopped" })).toBe("ws-0123456789  workspace.stopped");
});

it("cuts what is long, and shows in red what went wrong", () => {
  const command = "x".repeat(300);
  expect(
    shown({ ...head, kind: "command.started", command_sequence: 1, command, cwd: "/workspace" }).length,
  ).toBeLessThan(200);
  const ended = {
    ...head,
    kind: "command.ended",
    command_sequence: 1,
    state: "done",
    timed_out: false,
    duration_ms: 3,
  } as const;
  expect(shown({ ...ended, exit_code: 1 }, true)).toContain("\u001b[31m[1] exit 1, 3 ms");
  expect(shown({ ...ended, exit_code: 0 }, true)).not.toContain("\u001b[31m");
});
