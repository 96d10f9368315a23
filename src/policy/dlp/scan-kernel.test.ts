import { describe, expect, it } from "vitest";
import { createRandom } from "../../../test/helpers/random.ts";
import { CLASS_OF, byteOfClass, nextCounting } from "./compact-text.ts";
import { GramTable } from "./gram-table.ts";
import { ScanKernel } from "./scan-kernel.ts";
import { startsEscape } from "./unescape.ts";

const gramAt = (bytes: Uint8Array, last: number): number =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).readInt32LE(last - 3);

/** What is told of a text, when it is scanned in the parts that `cuts` make. */
function told(kernel: ScanKernel, text: Uint8Array, cuts: readonly number[]) {
  const raw = new Set<number>();
  const compact = new Set<number>();
  const escapes = new Set<number>();
  const visitor = {
    raw: (_gram: number, start: number) => raw.add(start),
    compact: (_gram: number, end: number) => compact.add(end),
    escape: (at: number) => escapes.add(at),
  };
  const ends = [...cuts, text.length];
  for (const [index, end] of ends.entries()) {
    const from = ends[index - 1] ?? 0;
    kernel.scan(text, from, end, compactBefore(text, from), visitor);
  }
  return { raw, compact, escapes };
}

function compactBefore(text: Uint8Array, from: number): Uint8Array {
  const last = new Uint8Array(3);
  for (let at = from, index = 2; index >= 0; index--) {
    at = nextCounting(text, at - 1, -1);
    if (at < 0) break;
    last[index] = byteOfClass(CLASS_OF[text[at] ?? 0] ?? 0);
  }
  return last;
}

describe("the kernel", () => {
  const ALPHABET = Buffer.from('abcABC019 -_.\\\\nrtux%&#"\u00d0\u00ef\0', "latin1");

  it.each([1, 2, 3, 4, 5])("misses no gram and no escape, wherever it is cut (seed %i)", (seed) => {
    const next = createRandom(seed);
    // Longer than a block, and of no round length.
    const text = Uint8Array.from({ length: 40_000 + next(999) }, () => ALPHABET[next(ALPHABET.length)] ?? 0);
    const counting: number[] = [];
    for (let at = nextCounting(text, 0, 1); at >= 0; at = nextCounting(text, at + 1, 1)) counting.push(at);
    const small = Uint8Array.from(counting, (at) => byteOfClass(CLASS_OF[text[at] ?? 0] ?? 0));

    const [raw, compact] = [new GramTable(), new GramTable()];
    const rawGrams = new Set<number>();
    const compactGrams = new Set<number>();
    for (let more = 0; more < 200; more++) {
      rawGrams.add(gramAt(text, 3 + next(text.length - 3)));
      compactGrams.add(gramAt(small, 3 + next(small.length - 3)));
    }
    for (const gram of rawGrams) raw.add(gram, 0, 0);
    for (const gram of compactGrams) compact.add(gram, 0, 0);

    const cuts = [1, 2, 3, 17, next(9000), 16_384, 16_385, 33_000].toSorted((one, other) => one - other);
    const found = told(new ScanKernel([raw], [compact]), text, cuts);

    for (let last = 3; last < text.length; last++)
      if (rawGrams.has(gramAt(text, last))) expect(found.raw, `raw at ${last - 3}`).toContain(last - 3);
    for (let last = 3; last < small.length; last++)
      if (compactGrams.has(gramAt(small, last)))
        expect(found.compact, `compact at ${last}`).toContain(counting[last] ?? -1);
    for (let at = 0; at < text.length; at++)
      if (startsEscape(text, at)) expect(found.escapes, `escape at ${at}`).toContain(at);
    // It is a filter: most of what it tells is there.
    expect(found.compact.size).toBeLessThan(small.length);
  });

  it("goes on when more is found than it has room for", () => {
    const [raw, compact] = [new GramTable(), new GramTable()];
    raw.add(Buffer.from("aaaa").readInt32LE(), 0, 0);
    compact.add(Buffer.from("aaaa").readInt32LE(), 0, 0);
    const text = Buffer.alloc(30_000, "a");
    const found = told(new ScanKernel([raw], [compact]), text, []);
    expect(found.raw.size).toBe(text.length - 3);
    expect(found.compact.size).toBe(text.length - 3);
    const escapes = told(new ScanKernel([], []), Buffer.alloc(30_000, "%41"), []).escapes;
    expect(escapes.size).toBe(10_000);
  });
});
