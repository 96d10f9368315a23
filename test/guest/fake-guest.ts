import { duplexPair, type Duplex } from "node:stream";
import { GuestClient, type ConnectOptions } from "../../src/guest/client.ts";
import { encodeFrame, FrameDecoder } from "../../src/guest/codec.ts";
import { GUEST, HOST, MAGIC, MAX_SPAWN_PAYLOAD } from "../../src/guest/frame-types.ts";

export interface Frame {
  readonly type: number;
  readonly stream: number;
  readonly payload: Buffer;
}

type Field = ["u8" | "u16" | "u32" | "u64" | "i32", number] | ["str" | "raw", string | Uint8Array];

/** Bytes of a payload from its fields. */
export function pack(...fields: Field[]): Buffer {
  return Buffer.concat(fields.map(packField));
}

function packField([kind, value]: Field): Buffer {
  const bytes = Buffer.from(typeof value === "number" ? "" : value);
  const number = typeof value === "number" ? value : bytes.length;
  const out = Buffer.alloc(8);
  switch (kind) {
    case "u8":
      return out.subarray(0, out.writeUInt8(number));
    case "u16":
      return out.subarray(0, out.writeUInt16LE(number));
    case "u32":
      return out.subarray(0, out.writeUInt32LE(number));
    case "i32":
      return out.subarray(0, out.writeInt32LE(number));
    case "u64":
      return out.subarray(0, out.writeBigUInt64LE(BigInt(number)));
    case "str":
      return Buffer.concat([out.subarray(0, out.writeUInt32LE(number)), bytes]);
    case "raw":
      return bytes;
  }
}

export const helloPayload = (version = 1, flags = 3): Buffer =>
  pack(["u32", MAGIC], ["u16", version], ["u16", flags], ["u32", 1], ["raw", Buffer.alloc(16, 7)]);
export const dataPayload = (channel: number, offset: number, data: string | Uint8Array): Buffer =>
  pack(["u8", channel], ["u64", offset], ["raw", data]);
export const exitPayload = (code = 0): Buffer => pack(["u8", 0], ["u8", 0], ["i32", code], ["u64", 1000], ["str", ""]);

/** A peer that says what a test tells it to, where a real guest would not: for faults of the protocol. */
export class FakeGuest {
  readonly host: Duplex;
  readonly own: Duplex;
  readonly frames: Frame[] = [];
  #waiting: { match: (frame: Frame) => boolean; resolve: (frame: Frame) => void } | undefined;

  constructor() {
    [this.host, this.own] = duplexPair();
    const decoder = new FrameDecoder((type, stream, payload) => {
      const frame = { type, stream, payload: Buffer.from(payload) };
      this.frames.push(frame);
      if (this.#waiting?.match(frame)) this.#waiting.resolve(frame);
    }, MAX_SPAWN_PAYLOAD + 5);
    this.own.on("data", (chunk: Buffer) => decoder.push(chunk));
    this.own.on("error", () => undefined);
  }

  send(type: number, stream: number, payload: Uint8Array = Buffer.alloc(0)): void {
    this.sendRaw(encodeFrame(type, stream, payload));
  }

  sendRaw(bytes: Uint8Array): void {
    if (!this.own.destroyed) this.own.write(bytes);
  }

  /** The first frame of this type, also one that came before. */
  async frame(type: number, nth = 0): Promise<Frame> {
    const matching = () => this.frames.filter((frame) => frame.type === type);
    const match = (frame: Frame) => frame.type === type && matching().length > nth;
    const known = matching()[nth];
    return known ?? new Promise<Frame>((resolve) => (this.#waiting = { match, resolve }));
  }

  async connect(options?: ConnectOptions, hello = helloPayload()): Promise<GuestClient> {
    const client = GuestClient.connect(this.host, options);
    await this.frame(HOST.HELLO);
    this.send(GUEST.HELLO, 0, hello);
    return client;
  }
}

/** A turn in which everything that is on its way arrives. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
}
