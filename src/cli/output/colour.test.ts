import { expect, it } from "vitest";
import { createColours, wantsColour } from "./colour.ts";

it("wantsColour only on a terminal, and never with NO_COLOR", () => {
  expect(wantsColour({ isTTY: true }, { TERM: "xterm" })).toBe(true);
  expect(wantsColour({ isTTY: true }, { NO_COLOR: "1" })).toBe(false);
  expect(wantsColour({ isTTY: true }, { TERM: "dumb" })).toBe(false);
  expect(wantsColour({ isTTY: false }, {})).toBe(false);
  expect(wantsColour({}, {})).toBe(false);
});

it("createColours paints only when it may", () => {
  expect(createColours(true).red("x")).toBe("\u001B[31mx\u001B[39m");
  expect(createColours(false).red("x")).toBe("x");
});
