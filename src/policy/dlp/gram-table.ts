/**
 * Finds which of thousands of needles may be at a place. Each needle is entered with a few of its grams (four characters in one integer). Filters answer nearly every
 * "no" (`gram-filter.ts`, asked by `scan-kernel.ts`); what gets past them is looked up here, exactly. Numbers in a few arrays: an object for each would be most of a gate's memory.
 */
export class GramTable {
  #keys: Int32Array;
  /** Of the first entry of a gram, plus 1. */
  #heads: Int32Array;
  #mask: number;
  #used = 0;
  /** For each entry: its needle, where in the needle the gram is, and the next entry of the same gram, plus 1. */
  #entries: Int32Array;
  #size = 0;

  constructor(slots = 64) {
    this.#keys = new Int32Array(slots);
    this.#heads = new Int32Array(slots);
    this.#mask = slots - 1;
    this.#entries = new Int32Array(ENTRY * slots);
  }

  /** For so many needles, without ever growing. */
  static withRoom(needles: number): GramTable {
    return new GramTable(2 ** Math.ceil(Math.log2(2 * needles + 4)));
  }

  get size(): number {
    return this.#size;
  }

  add(gram: number, needle: number, at: number): void {
    if (2 * (this.#used + 1) > this.#mask) this.#grow();
    const place = this.#place(gram);
    const next = this.#heads[place] ?? 0;
    if (next === 0) this.#used++;
    this.#keys[place] = gram;
    this.#enter(needle, at, next);
    this.#heads[place] = this.#size;
  }

  /** The first entry of a gram, or -1. */
  first(gram: number): number {
    return (this.#heads[this.#place(gram)] ?? 0) - 1;
  }

  /** The next entry of the same gram, or -1. */
  next(entry: number): number {
    return (this.#entries[ENTRY * entry + 2] ?? 0) - 1;
  }

  needleOf(entry: number): number {
    return this.#entries[ENTRY * entry] ?? -1;
  }

  /** Where in the needle the gram is. */
  placeOf(entry: number): number {
    return this.#entries[ENTRY * entry + 1] ?? 0;
  }

  forEachGram(act: (gram: number) => void): void {
    for (let place = 0; place <= this.#mask; place++) if (this.#heads[place] !== 0) act(this.#keys[place] ?? 0);
  }

  #enter(needle: number, at: number, next: number): void {
    const from = ENTRY * this.#size++;
    if (from + ENTRY > this.#entries.length) {
      const longer = new Int32Array(2 * this.#entries.length);
      longer.set(this.#entries);
      this.#entries = longer;
    }
    this.#entries[from] = needle;
    this.#entries[from + 1] = at;
    this.#entries[from + 2] = next;
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
    for (let at = 0; at < keys.length; at++) {
      const head = heads[at] ?? 0;
      if (head === 0) continue;
      const place = this.#place(keys[at] ?? 0);
      this.#keys[place] = keys[at] ?? 0;
      this.#heads[place] = head;
    }
  }
}

const ENTRY = 3;

export const GRAM_LENGTH = 4;
