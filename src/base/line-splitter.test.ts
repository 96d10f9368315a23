import { describe, expect, it } from "vitest";
import { LineSplitter } from "./line-splitter.ts";

function split(chunks: readonly string[], maxBytes = 100): string[] {
  const lines: string[] = [];
  const splitter = new LineSplitter({
    onLine: (line) => lines.push(line.toString()),
    maxBytes,
    onTooLong: () => lines.push("TOO LONG"),
  });
  for (const chunk of chunks) splitter.push(Buffer.from(chunk));
  return lines;
}

describe("LineSplitter", () => {
  it("gives whole lines however the chunks fall", () => {
    const text = "one\ntwo\n\nthree\n";
    for (const size of [1, 2, 3, 5, text.length]) {
      const chunks = text.match(new RegExp(`[^]{1,${size}}`, "g")) ?? [];
      expect(split(chunks)).toEqual(["one", "two", "", "three"]);
    }
  });

  it("holds back what has no end yet", () => {
    expect(split(["one\ntw"])).toEqual(["one"]);
  });

  it("tells a line that is too long, whether it ends or not", () => {
    expect(split(["12345\nok\n"], 4)).toEqual(["TOO LONG", "ok"]);
    expect(split(["123", "45"], 4)).toEqual(["TOO LONG"]);
  });
});
