/**
 * The body of a streamed answer: frames of `type u8, length u32le, payload`. Output crosses as raw bytes, so that a binary
 * stdout stays what it was. Pure; used by the daemon to write and by the SDK to read.
 */
export const STREAM_CONTENT_TYPE = "application/x-cloche-frames";

export const FRAME = { started: 1, stdout: 2, stderr: 3, exit: 4, error: 5, event: 6 } as const;
export type FrameType = (typeof FRAME)[keyof typeof FRAME];

export interface StreamFrame {
  type: FrameType;
  payload: Buffer;
}

const HEADER_BYTES = 5;
const MAX_PAYLOAD_BYTES = 64 * 1024 * 1024;
const TYPES = new Set<number>(Object.values(FRAME));

export function encodeStreamFrame(type: FrameType, payload: Uint8Array): Buffer {
  const frame = Buffer.allocUnsafe(HEADER_BYTES + payload.length);
  frame[0] = type;
  frame.writeUInt32LE(payload.length, 1);
  frame.set(payload, HEADER_BYTES);
  return frame;
}

export const encodeJsonFrame = (type: FrameType, value: unknown): Buffer =>
  encodeStreamFrame(type, Buffer.from(JSON.stringify(value)));

export async function* decodeStreamFrames(chunks: AsyncIterable<Buffer>): AsyncGenerator<StreamFrame> {
  let held: Buffer = Buffer.alloc(0);
  for await (const chunk of chunks) {
    held = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
    while (held.length >= HEADER_BYTES) {
      const type = held[0] ?? 0;
      const length = held.readUInt32LE(1);
      if (!TYPES.has(type) || length > MAX_PAYLOAD_BYTES)
        throw new RangeError(`bad stream frame: type ${type}, ${length} bytes`);
      if (held.length < HEADER_BYTES + length) break;
      yield { type: type as FrameType, payload: held.subarray(HEADER_BYTES, HEADER_BYTES + length) };
      held = held.subarray(HEADER_BYTES + length);
    }
  }
  if (held.length > 0) throw new RangeError("the stream ended inside a frame");
}
