import { expect, it } from "vitest";
import { isFresh } from "./fresh-files.ts";

it.each([
  ["a moment ago", 1_700_000_000_000.25, 50, true],
  ["longer ago than the clock's grain", 1_700_000_000_000.25, 150, false],
  ["at a whole second, as coarse clocks have it", 1_700_000_000_000, 1500, true],
  ["long ago, at a whole second", 1_700_000_000_000, 2500, false],
  ["in the future, by a clock that differs", 1_700_000_000_000.25, -5000, true],
])("a file that changed %s", (_, ctimeMs, laterMs, fresh) => {
  expect(isFresh(ctimeMs, ctimeMs + laterMs)).toBe(fresh);
});
