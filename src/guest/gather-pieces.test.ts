import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { GATHERED_BYTES, gatherPieces, LARGE_BYTES } from "./gather-pieces.ts";

const around = (bytes: number) => fc.integer({ min: bytes - 2, max: bytes + 2 });
const size = fc.oneof(
  fc.integer({ min: 0, max: 40 }),
  fc.integer({ min: 0, max: LARGE_BYTES }),
  around(LARGE_BYTES),
  around(GATHERED_BYTES),
);

/** Each byte tells where it belongs; one buffer for all of them, as a producer may do. */
async function* produced(sizes: readonly number[]): AsyncGenerator<Uint8Array> {
  const large = Buffer.alloc(GATHERED_BYTES);
  let at = 0;
  for (const length of sizes) {
    const piece = length < LARGE_BYTES ? large.subarray(0, length) : Buffer.alloc(length);
    for (let i = 0; i < length; i++) piece[i] = (at++ * 31) % 251;
    yield await Promise.resolve(piece);
  }
}

async function gathered(sizes: readonly number[]): Promise<Buffer[]> {
  const found: Buffer[] = [];
  for await (const piece of gatherPieces(produced(sizes))) found.push(Buffer.from(piece));
  return found;
}

describe("gatherPieces()", () => {
  it("gives every byte once and in order, whatever the sizes are", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(size, { maxLength: 40 }), async (sizes) => {
        const total = sizes.reduce((sum, length) => sum + length, 0);
        const expected = Buffer.from(Array.from({ length: total }, (_, at) => (at * 31) % 251));
        expect(Buffer.concat(await gathered(sizes)).equals(expected)).toBe(true);
      }),
      { numRuns: 200 },
    );
  });

  it("joins small pieces, and lets large ones pass", async () => {
    const lengths = async (sizes: number[]) => (await gathered(sizes)).map(({ length }) => length);
    expect(await lengths([1, 2, 3])).toEqual([6]);
    expect(await lengths([5, LARGE_BYTES, 5])).toEqual([5, LARGE_BYTES, 5]);
    const quarter = LARGE_BYTES - 1;
    expect(await lengths([quarter, quarter, quarter, quarter, 4, 1])).toEqual([GATHERED_BYTES, 1]);
    expect(await lengths([])).toEqual([]);
  });
});
