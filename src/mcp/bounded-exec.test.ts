import { expect, it } from "vitest";
import type { ExecResult } from "../model/exec.ts";
import { boundExec } from "./bounded-exec.ts";
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

it("has no hint where the result has none", () => {
  expect(boundExec(RESULT, true)).not.toHaveProperty("hint");
});
