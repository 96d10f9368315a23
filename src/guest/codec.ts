import { HEADER_BYTES, MAX_FRAME_LENGTH, MIN_FRAME_LENGTH } from "./frame-types.ts";
import { protocolError } from "./protocol-error.ts";

/** A frame with its header written and room for the payload from `HEADER_BYTES` on. */
export function startFrame(type: number, stream: number, payloadLength: number): Buffer {
  const frame = Buffer.allocUnsafe(HEADER_BYTES + payloadLength);
  writeHeader(frame, type, stream, payloadLength);
  return frame;
}

function writeHeader(frame: Buffer, type: number, stream: number, payloadLength: number): void {
  frame.writeUInt32LE(MIN_FRAME_LENGTH + payloadLength, 0);
  frame[4] = type;
  frame.writeUInt32LE(stream, 5);
}

/**
 * The head of a frame whose last `bodyLength` payload bytes are written after it from elsewhere, so that large content is not
 * copied; `headLength` payload bytes are in the returned buffer.
 */
export function startSplitFrame(type: number, stream: number, headLength: number, bodyLength: number): Buffer {
  const frame = Buffer.allocUnsafe(HEADER_BYTES + headLength);
  writeHeader(frame, type, stream, headLength + bodyLength);
  return frame;
}

export function encodeFrame(type: number, stream: number, payload: Uint8Array): Buffer {
  const frame = startFrame(type, stream, payload.length);
  frame.set(payload, HEADER_BYTES);
  return frame;
}

export type OnFrame = (type: number, stream: number, payload: Buffer) => void;

/**
 * Cuts a byte stream into frames. A frame that lies whole in one chunk is handed on as a view of it; one that does not is gathered
 * once in a buffer of its own size, so each byte is copied at most once however the chunks fall.
 */
export class FrameDecoder {
  readonly #onFrame: OnFrame;
  readonly #maxLength: number;
  readonly #length = Buffer.alloc(4);
  #lengthBytes = 0;
  /** The frame being gathered, from its type on. */
  #partial: Buffer | undefined;
  #partialBytes = 0;
  #stopped = false;

  constructor(onFrame: OnFrame, maxLength = MAX_FRAME_LENGTH) {
    this.#onFrame = onFrame;
    this.#maxLength = maxLength;
  }

  /** Throws GUEST_PROTOCOL, and what the frame handler throws; the decoder is of no use afterwards. */
  push(chunk: Buffer): void {
    let at = 0;
    while (at < chunk.length && !this.#stopped) {
      at = this.#partial ? this.#gather(this.#partial, chunk, at) : this.#begin(chunk, at);
    }
  }

  /** From here on bytes are ignored, also the rest of a chunk in work. */
  stop(): void {
    this.#stopped = true;
    this.#partial = undefined;
  }

  #begin(chunk: Buffer, at: number): number {
    if (this.#lengthBytes > 0 || chunk.length - at < 4) {
      const count = Math.min(4 - this.#lengthBytes, chunk.length - at);
      chunk.copy(this.#length, this.#lengthBytes, at, at + count);
      this.#lengthBytes += count;
      if (this.#lengthBytes === 4) {
        this.#lengthBytes = 0;
        this.#partial = Buffer.allocUnsafe(this.#check(this.#length.readUInt32LE(0)));
        this.#partialBytes = 0;
      }
      return at + count;
    }
    const length = this.#check(chunk.readUInt32LE(at));
    const start = at + 4;
    if (chunk.length - start >= length) {
      this.#emit(chunk, start, start + length);
      return start + length;
    }
    this.#partial = Buffer.allocUnsafe(length);
    this.#partialBytes = chunk.copy(this.#partial, 0, start);
    return chunk.length;
  }

  #gather(partial: Buffer, chunk: Buffer, at: number): number {
    const count = Math.min(partial.length - this.#partialBytes, chunk.length - at);
    chunk.copy(partial, this.#partialBytes, at, at + count);
    this.#partialBytes += count;
    if (this.#partialBytes === partial.length) {
      this.#partial = undefined;
      this.#emit(partial, 0, partial.length);
    }
    return at + count;
  }

  #check(length: number): number {
    // SECURITY: the cap comes before the allocation, so a guest cannot make the host reserve more than one frame (G-10)
    if (length < MIN_FRAME_LENGTH || length > this.#maxLength) throw protocolError(`a frame of ${length} bytes`);
    return length;
  }

  #emit(data: Buffer, start: number, end: number): void {
    this.#onFrame(data.readUInt8(start), data.readUInt32LE(start + 1), data.subarray(start + 5, end));
  }
}
