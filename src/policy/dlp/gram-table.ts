/**
 * Finds which of thousands of needles may be at a place. Each needle is entered with a few of its grams (four characters in one integer). Two filters of bits answer
 * nearly every "no" (`scan-kernel.ts` asks them); what gets past them is looked up exactly.
 */
export class GramTable {
  /** Asked for every byte, so it fits into the fastest memory of a processor. */
  readonly near: Uint8Array;
  /** Asked where the first one says yes. */
  readonly far: Uint8Array;
  #keys: Int32Array;
  /** Of the first entry of a gram, plus 1. */
  #heads: Int32Array;
  #mask: number;
  #used = 0;
  readonly #entries: GramEntry[] = [];

  constructor(size = 1024, near = new Uint8Array(NEAR_BYTES), far = new Uint8Array(FAR_BYTES)) {
    this.near = near;
    this.far = far;
    this.#keys = new Int32Array(size);
    this.#heads = new Int32Array(size);
    this.#mask = size - 1;
  }

  get size(): number {
    return this.#entries.length;
  }

  add(gram: number, needle: number, at: number): void {
    if (2 * (this.#used + 1) > this.#mask) this.#grow();
    const place = this.#place(gram);
    const next = (this.#heads[place] ?? 0) - 1;
    if (next === -1) this.#used++;
    this.#entries.push({ needle, at, next });
    this.#keys[place] = gram;
    this.#heads[place] = this.#entries.length;
    mark(this.near, placeIn(Math.imul(gram, FIRST_FACTOR), NEAR_BYTES));
    mark(this.far, placeIn(Math.imul(gram, SECOND_FACTOR), FAR_BYTES));
  }

  /** The first entry of a gram, or undefined. */
  find(gram: number): GramEntry | undefined {
    const head = this.#heads[this.#place(gram)] ?? 0;
    return head === 0 ? undefined : this.#entries[head - 1];
  }

  next(entry: GramEntry): GramEntry | undefined {
    return entry.next === -1 ? undefined : this.#entries[entry.next];
  }

  clone(): GramTable {
    const copy = new GramTable(this.#keys.length, this.near.slice(), this.far.slice());
    copy.#keys = this.#keys.slice();
    copy.#heads = this.#heads.slice();
    copy.#used = this.#used;
    for (const entry of this.#entries) copy.#entries.push(entry);
    return copy;
  }

  #place(gram: number): number {
    let place = (Math.imul(gram, 0x85ebca6b) >>> 9) & this.#mask;
    while (this.#heads[place] !== 0 && this.#keys[place] !== gram) place = (place + 1) & this.#mask;
    return place;
  }

  #grow(): void {
    const [keys, heads] = [this.#keys, this.#heads];
    this.#keys = new Int32Array(2 * keys.length);
    this.#heads = new Int32Array(2 * keys.length);
    this.#mask = 2 * keys.length - 1;
    for (const [at, key] of keys.entries()) {
      if (heads[at] === 0) continue;
      const place = this.#place(key);
      this.#keys[place] = key;
      this.#heads[place] = heads[at] ?? 0;
    }
  }
}

export interface GramEntry {
  readonly needle: number;
  /** Where in the needle the gram is. */
  readonly at: number;
  readonly next: number;
}

export const GRAM_LENGTH = 4;
/** Of filters. Four more than a power of two: the kernel reads four bytes wherever a hash says, and one bit of these. */
export const NEAR_BYTES = 2 ** 15 + 4;
export const FAR_BYTES = 2 ** 18 + 4;
export const FIRST_FACTOR = 0x9e3779b1 | 0;
export const SECOND_FACTOR = 0x85ebca77 | 0;

/** Which bit of a filter a hash stands for: the upper bits say where, the next five which. */
export function placeIn(hash: number, bytes: number): number {
  const bits = Math.floor(Math.log2(bytes));
  return 8 * (hash >>> (32 - bits)) + ((hash >>> (27 - bits)) & 31);
}

function mark(filter: Uint8Array, bit: number): void {
  filter[bit >> 3] = (filter[bit >> 3] ?? 0) | (1 << (bit & 7));
}
