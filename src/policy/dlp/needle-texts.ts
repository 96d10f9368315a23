/** The bytes of many needles, one after the other: in two arrays, and not in one of its own for each. */
export class NeedleTexts {
  #bytes: Uint8Array;
  /** Of each, behind its last byte. */
  #ends: Int32Array;
  #size: number;

  constructor(stored: StoredTexts = { bytes: new Uint8Array(0), ends: new Int32Array(0) }) {
    this.#bytes = stored.bytes;
    this.#ends = stored.ends;
    this.#size = stored.ends.length;
  }

  get size(): number {
    return this.#size;
  }

  /** Gives its number. */
  add(bytes: Uint8Array): number {
    const start = this.#endOf(this.#size - 1);
    const end = start + bytes.length;
    if (end > this.#bytes.length) this.#bytes = longer(this.#bytes, new Uint8Array(2 * end + 64));
    if (this.#size === this.#ends.length) this.#ends = longer(this.#ends, new Int32Array(2 * this.#size + 16));
    this.#bytes.set(bytes, start);
    this.#ends[this.#size] = end;
    return this.#size++;
  }

  get(index: number): Uint8Array {
    return this.#bytes.subarray(this.#endOf(index - 1), this.#endOf(index));
  }

  /** Whether it stands in a text at that place. */
  isAt(index: number, text: Uint8Array, at: number): boolean {
    const start = this.#endOf(index - 1);
    const length = this.#endOf(index) - start;
    if (at < 0 || at + length > text.length) return false;
    for (let more = 0; more < length; more++) if (text[at + more] !== this.#bytes[start + more]) return false;
    return true;
  }

  stored(): StoredTexts {
    return { bytes: this.#bytes.slice(0, this.#endOf(this.#size - 1)), ends: this.#ends.slice(0, this.#size) };
  }

  #endOf(index: number): number {
    return index < 0 ? 0 : (this.#ends[index] ?? 0);
  }
}

export interface StoredTexts {
  readonly bytes: Uint8Array;
  readonly ends: Int32Array;
}

function longer<Numbers extends Uint8Array | Int32Array>(from: Numbers, to: Numbers): Numbers {
  to.set(from);
  return to;
}
