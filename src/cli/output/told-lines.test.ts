import { expect, it } from "vitest";
import { MemoryOutput } from "../../../test/helpers/memory-io.ts";
import { proseLines, toldLines } from "./told-lines.ts";

const narrow = Object.assign(new MemoryOutput(true), { columns: 30 });

it("breaks a text between words on a terminal, under its label", () => {
  expect(toldLines("hint:", "hint:", "Choose another name, or delete the old one first", narrow)).toEqual([
    "hint: Choose another name, or",
    "      delete the old one first",
  ]);
});

it("keeps a command whole, so that it can be copied", () => {
  expect(toldLines("hint:", "hint:", "See `cloche workspace list` for the ids", narrow)).toEqual([
    "hint: See",
    "      `cloche workspace list`",
    "      for the ids",
  ]);
});

it("breaks a text without a label, too", () => {
  expect(proseLines("Attaching; Ctrl-] detaches and leaves demo-k3x9a running", narrow)).toEqual([
    "Attaching; Ctrl-] detaches and",
    "leaves demo-k3x9a running",
  ]);
  expect(proseLines("No   entries", new MemoryOutput())).toEqual(["No   entries"]);
});

it("is one line where there is no terminal", () => {
  const text = "word ".repeat(60).trimEnd();
  expect(toldLines("note:", "note:", text, new MemoryOutput())).toEqual([`note: ${text}`]);
});
