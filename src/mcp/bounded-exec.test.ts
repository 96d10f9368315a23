import { expect, it } from "vitest";
import type { ExecResult } from "../model/exec.ts";
import { boundExec } from "./bounded-exec.ts";
import { networkHint } from "../workspaces/network-hint.ts";
import { execWords } from "./result-words.ts";

const RESULT: ExecResult = {
  workspace_id: "ws-0123456789",
  sequence: 1,
  command: "npm install",
  cwd: "/workspace",
  exit_code: 1,
  stdout: "",
  stderr: "npm error code ENOTFOUND\n",
  stdout_truncated: false,
  stderr_truncated: false,
  timed_out: false,
  duration_ms: 900,
  execution_mode: "guest_socket",
};

it("says to an agent that there is no network, and names a tool", () => {
  const bound = boundExec({ ...RESULT, hint: "as a command line has it" }, true);
  expect(bound.hint).toMatch(/^This workspace has no network; .*`workspace_sync_push`/);
  expect(execWords(bound)).toMatch(/ENOTFOUND\nhint: This workspace has no network/);
});

it("says to an agent that a host is not listed, and what its user can look at", () => {
  const { hint } = networkHint({ hasEgress: true, workspaceId: RESULT.workspace_id }, RESULT);
  expect(boundExec({ ...RESULT, ...(hint !== undefined && { hint }) }, true).hint).toBe(
    "This workspace reaches only the hosts that are listed for it; do without others, or see what was refused with `cloche egress learn ws-0123456789`",
  );
});

it("has no hint where the result has none", () => {
  expect(boundExec(RESULT, true)).not.toHaveProperty("hint");
});
