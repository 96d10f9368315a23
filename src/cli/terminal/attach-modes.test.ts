import { describe, expect, it } from "vitest";
import { TerminalModes } from "./attach-modes.ts";

const ORDINARY = "\x0f\x1b(B\x1b>\x1b[0m";
const undo = (...chunks: string[]) => {
  const modes = new TerminalModes();
  for (const chunk of chunks) modes.watch(Buffer.from(chunk));
  return modes.undo();
};

describe("TerminalModes", () => {
  it("undoes what is still switched, and nothing that was switched back", () => {
    expect(undo("\x1b[?1049h\x1b[?25l full screen")).toBe(`\x1b[?1049l\x1b[?25h${ORDINARY}`);
    expect(undo("\x1b[?1049h\x1b[?25l", "\x1b[?25h\x1b[?1049l")).toBe(ORDINARY);
    expect(undo("plain text")).toBe(ORDINARY);
  });

  it("sees several modes in one sequence, and a sequence that comes in two pieces", () => {
    expect(undo("\x1b[?1002;1006h")).toBe(`\x1b[?1002l\x1b[?1006l${ORDINARY}`);
    expect(undo("text \x1b[?20", "04h")).toBe(`\x1b[?2004l${ORDINARY}`);
    expect(undo("\x1b[?2004h", "x", "\x1b[?2004l", "y")).toBe(ORDINARY);
  });
});
