import { expect, it, vi } from "vitest";
import { MemoryOutput } from "../../../test/helpers/memory-io.ts";
import { reportTo } from "./progress.ts";

it("writes a line for each new step where there is no terminal", () => {
  const stream = new MemoryOutput();
  const progress = reportTo(stream, true);
  for (const fraction of [0.1, 0.2]) progress.report({ step: "Unpacking", fraction });
  progress.report({ step: "Done \u001B[2J" });
  progress.clear();
  expect(stream.text).toBe("Unpacking\nDone \\x1b[2J\n");
});

it("keeps silent where there is no terminal and no more talk is wanted", () => {
  const stream = new MemoryOutput();
  reportTo(stream, false).report({ step: "Unpacking" });
  expect(stream.text).toBe("");
});

it("rewrites one line on a terminal and removes it at the end", () => {
  const stream = new MemoryOutput(true);
  const progress = reportTo(stream, false);
  progress.report({ step: "Unpacking", fraction: 0.129 });
  progress.report({ step: "x".repeat(200) });
  progress.clear();
  progress.clear();
  expect(stream.text).toBe(`Unpacking 12 %\r\u001B[K${"x".repeat(79)}\r\u001B[K`);
});

it("takes a terminal that does not know its width for one of 80 columns", () => {
  const stream = Object.assign(new MemoryOutput(true), { columns: 0 });
  reportTo(stream, false).report({ step: "x".repeat(200) });
  expect(stream.text).toBe("x".repeat(79));
});

it("shows of a step that takes long for how long it has gone on, until it is over", () => {
  vi.useFakeTimers();
  try {
    const stream = new MemoryOutput(true);
    const progress = reportTo(stream, false);
    const lastLine = () => stream.text.split("\r\u001B[K").at(-1);
    progress.report({ step: "Unpacking", fraction: 0.5 });
    vi.advanceTimersByTime(2000);
    expect(lastLine()).toBe("Unpacking 50 %");
    vi.advanceTimersByTime(2000);
    expect(lastLine()).toBe("Unpacking 50 % (4 s)");
    progress.report({ step: "Unpacking", fraction: 0.6 });
    expect(lastLine()).toBe("Unpacking 60 % (4 s)");
    progress.report({ step: "Linking" });
    expect(lastLine()).toBe("Linking");
    progress.clear();
    vi.advanceTimersByTime(9000);
    expect(lastLine()).toBe("");
  } finally {
    vi.useRealTimers();
  }
});
