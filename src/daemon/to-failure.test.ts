import { expect, it } from "vitest";
import { createLog } from "../base/log.ts";
import { failure } from "../model/error-codes.ts";
import { toFailure } from "./to-failure.ts";

const { signal } = new AbortController();

it("why a sandbox did not start is in the log, as the hint says, with all that was said", () => {
  const lines: string[] = [];
  const log = createLog((line) => lines.push(line));
  const error = failure("SANDBOX_START_FAILED", "Cannot start it", { details: { output: "first\nlast" } });
  expect(toFailure(error, "createWorkspace", signal, log)).toBe(error);
  expect(error.hint).toContain("daemon.log");
  expect(lines.map((line) => JSON.parse(line) as object)).toEqual([
    expect.objectContaining({
      level: "warn",
      operation: "createWorkspace",
      error: expect.stringContaining("Cannot start it") as string,
      details: { output: "first\nlast" },
    }),
  ]);
});

it("what a user can correct is not", () => {
  const lines: string[] = [];
  toFailure(
    failure("INVALID_ARGUMENT", "no"),
    "createWorkspace",
    signal,
    createLog((line) => lines.push(line)),
  );
  expect(lines).toEqual([]);
});
