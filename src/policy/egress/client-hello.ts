/** What the first bytes of a connection say. */
export type FirstBytes =
  | { readonly kind: "incomplete" }
  /** Not TLS. */
  | { readonly kind: "plain" }
  | { readonly kind: "tls"; readonly serverName: string | undefined }
  | { readonly kind: "broken" };

const HANDSHAKE = 0x16;
const CLIENT_HELLO = 1;
const SERVER_NAME = 0;
const MAX_RECORD = 16_384 + 256;

/** Reads the name that a client asks for in its handshake. A hello that is cut over several records is taken for broken: no client sends one. */
export function readFirstBytes(bytes: Buffer): FirstBytes {
  if (bytes.length === 0) return { kind: "incomplete" };
  if (bytes[0] !== HANDSHAKE) return { kind: "plain" };
  if (bytes.length < 5) return { kind: "incomplete" };
  const size = bytes.readUInt16BE(3);
  if (bytes[1] !== 3 || size > MAX_RECORD || size < 4) return { kind: "broken" };
  if (bytes.length < 5 + size) return { kind: "incomplete" };
  try {
    return { kind: "tls", serverName: serverNameOf(new Cursor(bytes.subarray(5, 5 + size))) };
  } catch {
    return { kind: "broken" };
  }
}

function serverNameOf(record: Cursor): string | undefined {
  if (record.byte() !== CLIENT_HELLO) throw new RangeError("another message");
  const hello = record.part(record.byte() * 65_536 + record.short());
  hello.part(2 + 32); // version and random
  hello.part(hello.byte()); // session
  hello.part(hello.short()); // ciphers
  hello.part(hello.byte()); // compression
  if (hello.isEmpty) return undefined;
  const extensions = hello.part(hello.short());
  let name: string | undefined;
  while (!extensions.isEmpty) {
    const type = extensions.short();
    const body = extensions.part(extensions.short());
    if (type !== SERVER_NAME) continue;
    const list = body.part(body.short());
    if (name !== undefined || list.byte() !== 0) throw new RangeError("several names");
    name = list.part(list.short()).text();
    if (!list.isEmpty) throw new RangeError("several names");
  }
  return name;
}

/** Reads on, and throws at the end. */
class Cursor {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get isEmpty(): boolean {
    return this.#at >= this.#bytes.length;
  }

  byte(): number {
    return this.#bytes.readUInt8(this.#at++);
  }

  short(): number {
    this.#at += 2;
    return this.#bytes.readUInt16BE(this.#at - 2);
  }

  part(length: number): Cursor {
    if (this.#at + length > this.#bytes.length) throw new RangeError("too short");
    this.#at += length;
    return new Cursor(this.#bytes.subarray(this.#at - length, this.#at));
  }

  text(): string {
    return this.#bytes.toString("latin1");
  }
}
