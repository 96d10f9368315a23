import { expect, it } from "vitest";
import { formatPairs, formatTable } from "./table.ts";

it("formatTable aligns columns to the widest cell and leaves no space at the end", () => {
  expect(
    formatTable(
      ["ID", "NAME", "X"],
      [
        ["ws-1", "a", ""],
        ["w", "longer", "y"],
      ],
    ),
  ).toEqual(["ID    NAME    X", "ws-1  a", "w     longer  y"]);
});

it("formatTable counts characters, not code units", () => {
  expect(formatTable(["🫙🫙", "B"], [["ab", "c"]])).toEqual(["🫙🫙  B", "ab  c"]);
});

it("formatPairs of nothing is nothing", () => {
  expect(formatPairs([])).toEqual([]);
});
