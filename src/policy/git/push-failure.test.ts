import { expect, it } from "vitest";
import { failed, refusalText } from "./push-failure.ts";

it("G-86 tells names of a push without anything that steers a terminal or turns text around", () => {
  const text = refusalText([failed("paths", "a\u001b[2J\u009b1m\u202etxt.exe in commit 1")]);
  expect(text).toContain("a?[2J?1m?txt.exe");
  // eslint-disable-next-line no-control-regex -- these are what must not be in it
  expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
});
