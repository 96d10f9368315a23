import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { diffLines, splitLines } from "./line-diff.ts";

const letters = fc.array(fc.constantFrom("a", "b", "c"), { maxLength: 30 });

function patched(oldLines: string[], newLines: string[], maxEdits?: number): string[] {
  const result: string[] = [];
  let at = 0;
  for (const { oldStart, oldEnd, newStart, newEnd } of diffLines(oldLines, newLines, maxEdits)) {
    result.push(...oldLines.slice(at, oldStart), ...newLines.slice(newStart, newEnd));
    at = oldEnd;
  }
  return [...result, ...oldLines.slice(at)];
}

/** The length of the longest common subsequence, by the table. */
function commonLength(a: string[], b: string[]): number {
  let row = new Array<number>(b.length + 1).fill(0);
  for (const x of a) {
    const next = [0];
    b.forEach((y, index) => next.push(x === y ? row[index]! + 1 : Math.max(row[index + 1]!, next[index]!)));
    row = next;
  }
  return row.at(-1)!;
}

describe("diffLines()", () => {
  it("turns one list into the other, also when it gives up the search", () => {
    fc.assert(
      fc.property(letters, letters, fc.constantFrom(undefined, 0, 3), (oldLines, newLines, maxEdits) => {
        expect(patched(oldLines, newLines, maxEdits)).toEqual(newLines);
      }),
    );
  });

  it("finds the shortest way", () => {
    fc.assert(
      fc.property(letters, letters, (oldLines, newLines) => {
        const edits = diffLines(oldLines, newLines).reduce(
          (sum, c) => sum + c.oldEnd - c.oldStart + c.newEnd - c.newStart,
          0,
        );
        expect(edits).toBe(oldLines.length + newLines.length - 2 * commonLength(oldLines, newLines));
      }),
    );
  });
});

describe("splitLines()", () => {
  it("keeps every character", () => {
    expect(splitLines("a\r\n\nb")).toEqual(["a\r\n", "\n", "b"]);
    expect(splitLines("")).toEqual([]);
  });
});
