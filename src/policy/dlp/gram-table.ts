/**
 * Finds which of thousands of needles may be at a place. Each needle is entered with a few of its grams (four characters in one integer). A filter of bytes answers
 * nearly every "no" with one look; what gets past it is looked up exactly.
 */
export class GramTable {
  /** By `slotOf`: 1 where the first hash of some gram is, 2 where the second is. A gram that has both may be there. */
  readonly filter: Uint8Array;
  #keys: Int32Array;
  /** Of the first entry of a gram, plus 1. */
  #heads: Int32Array;
  #mask: number;
  #used = 0;
  readonly #entries: GramEntry[] = [];

  constructor(filter = new Uint8Array(1 << FILTER_BITS), size = 1024) {
    this.filter = filter;
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
    const [first, second] = [slotOf(gram, FILTER_FACTOR), slotOf(gram, SECOND_FACTOR)];
    this.filter[first] = (this.filter[first] ?? 0) | 1;
    this.filter[second] = (this.filter[second] ?? 0) | 2;
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
    const copy = new GramTable(this.filter.slice(), this.#keys.length);
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
export const FILTER_BITS = 18;
export const FILTER_FACTOR = 0x9e3779b1;
export const SECOND_FACTOR = 0x85ebca77;

const slotOf = (gram: number, factor: number): number => Math.imul(gram, factor) >>> (32 - FILTER_BITS);
