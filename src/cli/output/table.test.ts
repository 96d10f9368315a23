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

it("formatTable aligns the names of records, also of a column that is set in", () => {
  const wide = "a state that leaves no room beside it";
  const lines = formatTable(["  A", "LONGER", "TEXT"], [["✓ one", wide, "a text of its own length"]], narrow(50));
  expect(lines).toEqual(["A       ✓ one", `LONGER  ${wide}`, "TEXT    a text of its own length"]);
});

it("formatPairs of nothing is nothing", () => {
  expect(formatPairs([])).toEqual([]);
});

const narrow = (width: number) => ({ width, bold: (text: string) => `*${text}*` });
const HEADER = ["NAME", "STATE", "TEXT"];
const ROWS = [
  ["one", "warm", "a text that does not fit into the line"],
  ["two", "cold", "-"],
];

it("formatTable wraps the last cell of a row that is too long", () => {
  expect(formatTable(HEADER, ROWS, narrow(40))).toEqual([
    "*NAME  STATE  TEXT*",
    "one   warm   a text that does not fit",
    "             into the line",
    "two   cold   -",
  ]);
});

it("formatTable shows names and values where no row would fit", () => {
  expect(formatTable(HEADER, ROWS, narrow(31))).toEqual([
    "NAME   one",
    "STATE  warm",
    "TEXT   a text that does not fit",
    "       into the line",
    "",
    "NAME   two",
    "STATE  cold",
    "TEXT   -",
  ]);
});

it("formatPairs sets values below their names where there is no room beside them", () => {
  const pairs = [
    ["--a-long-option", "what it is good for, told at length"],
    ["-b", ""],
  ] as const;
  expect(formatPairs(pairs, 60)).toEqual(["--a-long-option  what it is good for, told at length", "-b"]);
  expect(formatPairs(pairs, 42)).toEqual([
    "--a-long-option  what it is good for, told",
    "                 at length",
    "-b",
  ]);
  expect(formatPairs(pairs, 30)).toEqual([
    "--a-long-option",
    "      what it is good for,",
    "      told at length",
    "-b",
  ]);
});
