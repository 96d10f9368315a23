import { randomBytes } from "node:crypto";
import fc from "fast-check";
import { expect, it } from "vitest";
import { BrokenPkt, FLUSH, MAX_PKT, PktReader, pktLine, sideBand } from "./pkt-line.ts";

const MOST = 4 * MAX_PKT;
const size = fc.oneof(
  fc.integer({ min: 0, max: 300 }),
  fc.integer({ min: 0, max: 40 }).map((less) => MAX_PKT - 4 - less),
);

/** Bytes in pieces that end anywhere. */
function* pieces(bytes: Buffer, sizes: readonly number[]): Generator<Buffer> {
  for (let at = 0, turn = 0; at < bytes.length; turn++) {
    const end = at + (sizes[turn % sizes.length] ?? 1);
    yield bytes.subarray(at, end);
    at = end;
  }
}

it("reads the same lines however they come in, and leaves what follows them untouched", () => {
  fc.assert(
    fc.property(
      fc.array(size, { maxLength: 4 }),
      fc.array(fc.oneof(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 1, max: MAX_PKT })), { minLength: 1 }),
      fc.integer({ min: 0, max: 50 }),
      (sizes, cuts, after) => {
        const lines = sizes.map((one) => randomBytes(one));
        const rest = randomBytes(after);
        const bytes = Buffer.concat([...lines.map((line) => pktLine(line)), FLUSH, rest]);
        const reader = new PktReader(MOST);
        const read: Buffer[] = [];
        let left: Buffer | undefined;
        for (const piece of pieces(bytes, cuts)) {
          if (left !== undefined) {
            left = Buffer.concat([left, piece]);
            continue;
          }
          const told = reader.push(piece);
          read.push(...told.lines);
          left = told.rest;
        }
        expect(left?.equals(rest)).toBe(true);
        expect(read.map((line) => line.toString("hex"))).toEqual(lines.map((line) => line.toString("hex")));
      },
    ),
    { numRuns: 60 },
  );
});

it("splits what is for people into lines that git takes, and loses nothing of it", () => {
  fc.assert(
    fc.property(fc.integer({ min: -6, max: 6 }), fc.integer({ min: 1, max: 3 }), (shift, times) => {
      const payload = randomBytes(times * (MAX_PKT - 5) + shift);
      const { lines, rest } = new PktReader(MOST).push(Buffer.concat([sideBand(2, payload), FLUSH]));
      expect(rest).toHaveLength(0);
      expect(lines.every((line) => line.length <= MAX_PKT - 4 && line[0] === 2)).toBe(true);
      expect(Buffer.concat(lines.map((line) => line.subarray(1))).equals(payload)).toBe(true);
    }),
  );
});

it.each(["0001", "0003", "fffg", "fff5", "-001", " 123"])("takes no line of the length %s", (length) => {
  expect(() => new PktReader(MOST).push(Buffer.from(`${length}xxxx`))).toThrow(BrokenPkt);
});

it("takes no more lines than there is room for", () => {
  const reader = new PktReader(1000);
  const line = pktLine(Buffer.alloc(396));
  reader.push(line);
  reader.push(line);
  expect(() => reader.push(line)).toThrow("it has too many lines");
});
