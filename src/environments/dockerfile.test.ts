import { describe, expect, it } from "vitest";
import { stepOutput } from "./dockerfile.ts";

describe("stepOutput()", () => {
  it.each([
    ["stdout", "ls: cannot access '/nope'", "ls: cannot access '/nope'"],
    ["stdout", "Step 2/2 : RUN ls /nope", undefined],
    ["stdout", " ---> Running in 0123456789ab", undefined],
    ["stdout", "Removing intermediate container 0123456789ab", undefined],
    ["stderr", "#6 0.214 ls: cannot access '/nope'", "ls: cannot access '/nope'"],
    ["stderr", "#6 [2/2] RUN ls /nope", undefined],
    ["stderr", "The command '/bin/sh -c ls /nope' returned a non-zero code: 2", undefined],
  ] as const)("tells on %s whether a step printed %j", (from, line, printed) => {
    expect(stepOutput(line, from)).toBe(printed);
  });
});
