import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isClocheError } from "../base/errors.ts";
import { encodeFrame, FrameDecoder } from "./codec.ts";
import { MAX_FRAME_LENGTH, MAX_PAYLOAD } from "./frame-types.ts";

const frameArbitrary = fc.record({
  type: fc.integer({ min: 0, max: 255 }),
  stream: fc.integer({ min: 0, max: 0xffff_ffff }),
  payload: fc.uint8Array({ maxLength: 300 }),
});

/** Cuts at the given places, in any order and with repeats. */
function cut(bytes: Buffer, places: readonly number[]): Buffer[] {
  const at = [0, ...places.map((place) => place % (bytes.length + 1)), bytes.length].sort((a, b) => a - b);
  return at.slice(1).map((end, index) => bytes.subarray(at[index], end));
}

function decode(chunks: readonly Buffer[]) {
  const frames: { type: number; stream: number; payload: string }[] = [];
  const decoder = new FrameDecoder((type, stream, payload) => {
    frames.push({ type, stream, payload: payload.toString("hex") });
  });
  for (const chunk of chunks) decoder.push(chunk);
  return frames;
}

describe("FrameDecoder", () => {
  it("gives back every frame however the bytes are cut", () => {
    const places = fc.array(fc.nat(), { maxLength: 40 });
    fc.assert(
      fc.property(fc.array(frameArbitrary, { maxLength: 12 }), places, (frames, at) => {
        const bytes = Buffer.concat(frames.map(({ type, stream, payload }) => encodeFrame(type, stream, payload)));
        const expected = frames.map((frame) => ({ ...frame, payload: Buffer.from(frame.payload).toString("hex") }));
        expect(decode(cut(bytes, at))).toEqual(expected);
      }),
    );
  });

  it("gives back frames that come byte by byte", () => {
    const bytes = Buffer.concat([encodeFrame(1, 2, Buffer.from("ab")), encodeFrame(3, 4, Buffer.alloc(0))]);
    expect(decode([...bytes].map((byte) => Buffer.of(byte)))).toEqual([
      { type: 1, stream: 2, payload: "6162" },
      { type: 3, stream: 4, payload: "" },
    ]);
  });

  it.each([0, 4, MAX_FRAME_LENGTH + 1, 0xffff_ffff])("refuses a length of %d before it reserves anything", (length) => {
    const header = Buffer.alloc(4);
    header.writeUInt32LE(length);
    const codeOf = (chunks: Buffer[]) => {
      try {
        decode(chunks);
        return undefined;
      } catch (error) {
        return isClocheError(error) ? error.code : error;
      }
    };
    expect(codeOf([header])).toBe("GUEST_PROTOCOL");
    expect(codeOf([header.subarray(0, 3), header.subarray(3)])).toBe("GUEST_PROTOCOL");
  });

  it("takes the largest frame", () => {
    const [frame] = decode([encodeFrame(1, 1, Buffer.alloc(MAX_PAYLOAD, 1))]);
    expect(frame?.payload).toHaveLength(2 * MAX_PAYLOAD);
  });

  it("stops in the middle of a chunk when told", () => {
    let seen = 0;
    const decoder = new FrameDecoder(() => {
      seen++;
      decoder.stop();
    });
    const frame = encodeFrame(1, 1, Buffer.from("x"));
    decoder.push(Buffer.concat([frame, frame, frame]));
    expect(seen).toBe(1);
  });

  it("costs the same per byte for one large frame in small pieces as in one", () => {
    const bytes = encodeFrame(1, 1, Buffer.alloc(MAX_PAYLOAD));
    let copied = 0;
    const pieces = Array.from({ length: Math.ceil(bytes.length / 64) }, (_, index) => {
      const piece = bytes.subarray(index * 64, (index + 1) * 64);
      const copy = piece.copy.bind(piece);
      piece.copy = (...argument: Parameters<Buffer["copy"]>) => {
        const count = copy(...argument);
        copied += count;
        return count;
      };
      return piece;
    });
    expect(decode(pieces)).toHaveLength(1);
    expect(copied).toBeLessThanOrEqual(bytes.length);
  });
});
