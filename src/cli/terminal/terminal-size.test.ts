import { expect, it } from "vitest";
import { terminalSize } from "./terminal-size.ts";

it("takes the usual size for a terminal that does not know its own, and no more than a command can be given", () => {
  expect(terminalSize({ columns: 120, rows: 40 })).toEqual({ cols: 120, rows: 40 });
  expect(terminalSize({ columns: 0, rows: 0 })).toEqual({ cols: 80, rows: 24 });
  expect(terminalSize({ columns: 5000, rows: 24 })).toEqual({ cols: 1000, rows: 24 });
});
