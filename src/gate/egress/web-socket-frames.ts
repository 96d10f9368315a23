/** Codes of a close. */
export const POLICY_VIOLATION = 1008;
export const PROTOCOL_ERROR = 1002;

/** The head of a frame of a WebSocket. */
export interface FrameHead {
  readonly isFinal: boolean;
  /** 0 continues a message; 1 and 2 begin one; 8 and above are about the connection. */
  readonly opcode: number;
  /** Reserved bits, which mean something only where an extension was agreed on. */
  readonly reserved: number;
  readonly mask: Buffer | undefined;
  readonly length: number;
}

export interface FrameHandler {
  /** Throws to end the connection. */
  head(head: FrameHead): void;
  /** Of the frame whose head came last, without its mask. */
  payload(bytes: Buffer, isLast: boolean): void;
  /** While it is so nothing more is taken apart; `push` goes on where it stopped. */
  readonly isHeld?: boolean;
}

/** Takes frames apart as their bytes come, whatever their size. */
export class FrameReader {
  readonly #handler: FrameHandler;
  #held: Buffer = Buffer.alloc(0);
  #mask: Buffer | undefined;
  #left = -1; // -1: a head comes next
  #at = 0;

  constructor(handler: FrameHandler) {
    this.#handler = handler;
  }

  push(chunk: Buffer): void {
    let bytes = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
    while (this.#handler.isHeld !== true) {
      if (this.#left < 0) {
        const size = headSize(bytes);
        if (size === undefined || bytes.length < size) break;
        this.#begin(bytes.subarray(0, size));
        bytes = bytes.subarray(size);
      }
      const part = bytes.subarray(0, this.#left);
      bytes = bytes.subarray(part.length);
      this.#left -= part.length;
      if (part.length > 0 || this.#left === 0) this.#handler.payload(this.#unmasked(part), this.#left === 0);
      if (this.#left > 0) break;
      this.#left = -1;
    }
    this.#held = Buffer.from(bytes);
  }

  #begin(head: Buffer): void {
    const first = head.readUInt8(0);
    const isMasked = (head.readUInt8(1) & 0x80) !== 0;
    const short = head.readUInt8(1) & 0x7f;
    const length = short < 126 ? short : short === 126 ? head.readUInt16BE(2) : Number(head.readBigUInt64BE(2));
    if (length > Number.MAX_SAFE_INTEGER) throw new Error("a frame that never ends");
    this.#mask = isMasked ? Buffer.from(head.subarray(-4)) : undefined;
    this.#left = length;
    this.#at = 0;
    this.#handler.head({
      isFinal: (first & 0x80) !== 0,
      reserved: (first >> 4) & 7,
      opcode: first & 15,
      mask: this.#mask,
      length,
    });
  }

  #unmasked(part: Buffer): Buffer {
    const mask = this.#mask;
    if (!mask) return part;
    const plain = Buffer.from(part);
    for (let at = 0; at < plain.length; at++) plain[at] = (plain[at] ?? 0) ^ (mask[(this.#at + at) & 3] ?? 0);
    this.#at += plain.length;
    return plain;
  }
}

/** Undefined until it can be told. */
function headSize(bytes: Buffer): number | undefined {
  if (bytes.length < 2) return undefined;
  const second = bytes.readUInt8(1);
  const short = second & 0x7f;
  return 2 + (short === 126 ? 2 : short === 127 ? 8 : 0) + ((second & 0x80) === 0 ? 0 : 4);
}

/** A frame with its payload. With a mask of zeros where one is wanted: what it would hide is in our hands. */
export function frame(opcode: number, payload: Uint8Array, { isFinal = true, isMasked = false } = {}): Buffer {
  const size = payload.length;
  const head =
    size < 126
      ? Buffer.from([0, size])
      : size < 65_536
        ? Buffer.from([0, 126, size >> 8, size & 255])
        : Buffer.alloc(10);
  if (size >= 65_536) {
    head[1] = 127;
    head.writeBigUInt64BE(BigInt(size), 2);
  }
  head[0] = (isFinal ? 0x80 : 0) | opcode;
  if (isMasked) head[1] = (head[1] ?? 0) | 0x80;
  return Buffer.concat([head, isMasked ? Buffer.alloc(4) : Buffer.alloc(0), payload]);
}
