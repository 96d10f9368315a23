/**
 * Finds many needles in one pass over the bytes (Aho and Corasick): the time is that of the bytes, however many needles there are and however they overlap.
 * A state is a beginning of a needle; state 0 is the empty one.
 */
export class NeedleAutomaton {
  readonly #children: ChildTable;
  /** The longest other beginning that this one ends with. */
  readonly #fallback: Int32Array;
  readonly #matched: Int32Array;
  readonly #open: Int32Array;

  constructor(needles: readonly Uint8Array[]) {
    const most = 1 + needles.reduce((sum, needle) => sum + needle.length, 0);
    this.#children = new ChildTable(most);
    this.#fallback = new Int32Array(most);
    this.#matched = new Int32Array(most);
    this.#open = new Int32Array(most);
    this.#link(this.#insert(needles, most));
  }

  /** The state after one more byte. */
  next(state: number, byte: number): number {
    for (let from = state; ; from = this.#fallback[from] ?? 0) {
      const child = this.#children.get(from, byte);
      if (child !== 0) return child;
      if (from === 0) return 0;
    }
  }

  /** Where the next byte is with which a needle begins. Most bytes are none, so this is where the time goes. */
  skip(bytes: Uint8Array, from: number): number {
    const first = this.#children.first;
    let at = from;
    while (at < bytes.length && first[bytes[at] ?? 0] === 0) at++;
    return at;
  }

  /** Bytes of the longest needle that ends here; 0 for none. */
  matched(state: number): number {
    return this.#matched[state] ?? 0;
  }

  /** How many of the last bytes may be the beginning of a needle that goes on. */
  open(state: number): number {
    return this.#open[state] ?? 0;
  }

  /** The trie. Children have higher numbers than their parents, but not in the order of their depth. */
  #insert(needles: readonly Uint8Array[], most: number): Trie {
    const trie: Trie = {
      count: 1,
      depth: new Int32Array(most),
      parent: new Int32Array(most),
      byte: new Uint8Array(most),
    };
    for (const needle of needles) {
      let state = 0;
      for (const byte of needle) {
        let child = this.#children.get(state, byte);
        if (child === 0) {
          child = trie.count++;
          this.#children.set(state, byte, child);
          trie.depth[child] = (trie.depth[state] ?? 0) + 1;
          trie.parent[child] = state;
          trie.byte[child] = byte;
        }
        state = child;
      }
      this.#matched[state] = needle.length;
    }
    return trie;
  }

  /** Shorter beginnings first: those that a state falls back to are complete before it. */
  #link({ count, depth, parent, byte }: Trie): void {
    const hasChild = new Uint8Array(count);
    for (let state = 1; state < count; state++) hasChild[parent[state] ?? 0] = 1;
    for (const state of byDepth(depth.subarray(0, count))) {
      if (state === 0) continue;
      const above = parent[state] ?? 0;
      const fallback = above === 0 ? 0 : this.next(this.#fallback[above] ?? 0, byte[state] ?? 0);
      this.#fallback[state] = fallback;
      if (this.#matched[state] === 0) this.#matched[state] = this.matched(fallback);
      this.#open[state] = hasChild[state] === 1 ? (depth[state] ?? 0) : this.open(fallback);
    }
  }
}

interface Trie {
  count: number;
  readonly depth: Int32Array;
  readonly parent: Int32Array;
  readonly byte: Uint8Array;
}

/** A counting sort. */
function byDepth(depth: Int32Array): Int32Array {
  const starts = new Int32Array(depth.length + 1);
  const add = (at: number, more: number) => {
    const before = starts[at] ?? 0;
    starts[at] = before + more;
    return before;
  };
  for (const one of depth) add(one + 1, 1);
  for (let at = 1; at < starts.length; at++) add(at, starts[at - 1] ?? 0);
  const sorted = new Int32Array(depth.length);
  for (const [state, one] of depth.entries()) sorted[add(one, 1)] = state;
  return sorted;
}

/** From a state and a byte to a state: open addressing, half full at most. A row of 256 for each state would take a hundred times the memory. */
class ChildTable {
  readonly #mask: number;
  /** `state * 256 + byte`; a child is never 0, so an empty place is one without. */
  readonly #keys: Int32Array;
  readonly #children: Int32Array;
  /** Of state 0, where nearly all bytes end: no search. */
  readonly first = new Int32Array(256);

  constructor(most: number) {
    const size = 2 ** Math.ceil(Math.log2(2 * most));
    this.#mask = size - 1;
    this.#keys = new Int32Array(size);
    this.#children = new Int32Array(size);
  }

  get(state: number, byte: number): number {
    return (state === 0 ? this.first[byte] : this.#children[this.#place(state * 256 + byte)]) ?? 0;
  }

  set(state: number, byte: number, child: number): void {
    if (state === 0) {
      this.first[byte] = child;
      return;
    }
    const key = state * 256 + byte;
    const place = this.#place(key);
    this.#keys[place] = key;
    this.#children[place] = child;
  }

  #place(key: number): number {
    let place = (Math.imul(key, 0x9e3779b1) >>> 7) & this.#mask;
    while (this.#children[place] !== 0 && this.#keys[place] !== key) place = (place + 1) & this.#mask;
    return place;
  }
}
