import { expect, it } from "vitest";
import { MemoryOutput } from "../../test/helpers/memory-io.ts";
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
