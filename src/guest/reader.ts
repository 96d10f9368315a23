import { protocolError } from "./protocol-error.ts";

/**
 * A cursor over bytes of a guest. Every read is checked against the end and every value against its range; what does not fit
 * throws GUEST_PROTOCOL. `bytes` and `str` give views, not copies.
 */
export class Reader {
  readonly #data: Buffer;
  readonly #what: string;
  #at = 0;

  constructor(data: Buffer, what: string) {
    this.#data = data;
    this.#what = what;
  }

  get remaining(): number {
    return this.#data.length - this.#at;
  }

  u8(): number {
    return this.#data.readUInt8(this.#take(1));
  }

  u16(): number {
    return this.#data.readUInt16LE(this.#take(2));
  }

  u32(): number {
    return this.#data.readUInt32LE(this.#take(4));
  }

  i32(): number {
    return this.#data.readInt32LE(this.#take(4));
  }

  /** SECURITY: a number that JavaScript cannot count with would make offsets lie (G-10). */
  u64(): number {
    const at = this.#take(8);
    const value = this.#data.readUInt32LE(at) + this.#data.readUInt32LE(at + 4) * 0x1_0000_0000;
    if (value > Number.MAX_SAFE_INTEGER) throw protocolError(`a number in ${this.#what} is out of range`);
    return value;
  }

  /** All 64 bits, signed. */
  i64(): bigint {
    return this.#data.readBigInt64LE(this.#take(8));
  }

  bytes(length: number): Buffer {
    const at = this.#take(length);
    return this.#data.subarray(at, at + length);
  }

  /** A `str` of at most `max` bytes, without NUL. */
  str(max: number): Buffer {
    const length = this.u32();
    if (length > max) throw protocolError(`a text in ${this.#what} is longer than ${max} bytes`);
    const bytes = this.bytes(length);
    if (bytes.includes(0)) throw protocolError(`a text in ${this.#what} has a NUL`);
    return bytes;
  }

  /** The count of a list whose items take at least `itemBytes` each. */
  count(itemBytes: number): number {
    const count = this.u32();
    // SECURITY: a count is believed only as far as bytes are there for it (G-10)
    if (count * itemBytes > this.remaining) throw protocolError(`a list in ${this.#what} is longer than its frame`);
    return count;
  }

  rest(): Buffer {
    return this.bytes(this.remaining);
  }

  end(): void {
    if (this.remaining !== 0) throw protocolError(`${this.#what} has ${this.remaining} bytes too many`);
  }

  #take(length: number): number {
    const at = this.#at;
    if (length > this.#data.length - at) throw protocolError(`${this.#what} is cut short`);
    this.#at = at + length;
    return at;
  }
}
