import { BACKSLASH, BREAK_LETTER, CLASS_OF } from "./compact-text.ts";
import { GAP_BEGINNINGS } from "./gaps.ts";
import { FAR_BYTES, FIRST_FACTOR, NEAR_BYTES, SECOND_FACTOR, fillFilters } from "./gram-filter.ts";
import { GRAM_LENGTH, type GramTable } from "./gram-table.ts";
import {
  type Code,
  add,
  and,
  countBits,
  get,
  giveBack,
  i32,
  isLess,
  isMore,
  load32,
  load8,
  loopWhile,
  lowestBit,
  multiply,
  or,
  sequence,
  set,
  shiftLeft,
  shiftRight,
  store32,
  vector,
  wasmModule,
  when,
} from "./wasm-code.ts";

/**
 * The loops that see every byte, in WebAssembly. They tell where a gram of a table may be, and where an escape may begin; everything else is decided by those who
 * are told.
 */
export interface KernelVisitor {
  /** A gram of the raw table may begin here. */
  raw(gram: number, start: number): void;
  /** A gram of the compact table may end here. */
  compact?(gram: number, end: number): void;
  /** An escape may begin here; without it nobody looks for escapes. */
  escape?(at: number): void;
}

const PAGE = 65_536;
/** Bytes that are looked through at once: all that is used with them fits into a processor's fast memory. */
const BLOCK = 16_384;
/** A vector, and the room around text that is read and never meant. */
const LANES = 16;
const BEFORE = GRAM_LENGTH - 1;
/** Places of candidates, of one call. */
const OUT_BYTES = 16_384;
const PLACE_BYTES = 4;

/** Where things are in memory, one after the other. */
const ESCAPES = 0; // by a byte: which bit of `FOLLOWERS` it asks for
const FOLLOWERS = ESCAPES + 256; // by the byte after it
const MORE = FOLLOWERS + 256; // the same two once more, since a byte has eight bits only
const PICKS = MORE + 512; // by eight bits: the numbers of those that are set, in eight bytes; and once more for the second half of a vector
const RAW_NEAR = PICKS + 2 * 2048;
const RAW_FAR = RAW_NEAR + NEAR_BYTES;
const COMPACT_NEAR = RAW_FAR + FAR_BYTES;
const COMPACT_FAR = COMPACT_NEAR + NEAR_BYTES;
const COUNTS = COMPACT_FAR + FAR_BYTES; // for each vector of text: how many characters of compact text are before it
const OUT = COUNTS + (BLOCK / LANES) * PLACE_BYTES;
const FIRST_OUT = OUT + PLACE_BYTES; // before it is where the last one ends
const TEXT = OUT + OUT_BYTES + LANES;
const COMPACT = TEXT + BLOCK + 3 * LANES; // zeros after the text, and the end of the compact text before
const PAGES = Math.ceil((COMPACT + BLOCK + 2 * LANES) / PAGE);

/** So many places are looked at in one round. */
const ROUND = 4;
// The first locals of each function: what comes next, where it ends, and where the next candidate is written.
const [AT, END, OUT_AT] = [0, 1, 2] as const;

const isRoom = isLess(get(OUT_AT), i32(OUT + OUT_BYTES - LANES * PLACE_BYTES));
const emit = (place: Code): Code =>
  sequence(store32(get(OUT_AT), place), set(OUT_AT, add(get(OUT_AT), i32(PLACE_BYTES))));

/** The bit of a hash in a filter, as the lowest one. Above it are others. `placeIn` says the same. */
const bitOf = (hash: Code, filter: number, bytes: number): Code => {
  const bits = Math.floor(Math.log2(bytes));
  return shiftRight(load32(shiftRight(hash, i32(32 - bits)), filter), shiftRight(hash, i32(27 - bits)));
};

/** Through text at `base`: wherever four bytes are in both filters, the place of the last is told. One branch for several places, since it is nearly never taken. */
function lookLoop(base: number, near: number, far: number): Code {
  const hashOf = (index: number) => 3 + index;
  const gramAt = (index: number): Code => load32(get(AT), base + index - BEFORE);
  const round = (size: number): Code => {
    const places = Array.from({ length: size }, (_, index) => index);
    const marks = places.map((index) => bitOf(get(hashOf(index)), near, NEAR_BYTES));
    return loopWhile(
      and(isLess(add(get(AT), i32(size - 1)), get(END)), isRoom),
      ...places.map((index) => set(hashOf(index), multiply(gramAt(index), i32(FIRST_FACTOR)))),
      when(
        and(marks.reduce(or), i32(1)),
        ...places.map((index) =>
          when(
            and(marks[index] ?? [], i32(1)),
            set(hashOf(index), multiply(gramAt(index), i32(SECOND_FACTOR))),
            when(and(bitOf(get(hashOf(index)), far, FAR_BYTES), i32(1)), emit(add(get(AT), i32(index)))),
          ),
        ),
      ),
      set(AT, add(get(AT), i32(size))),
    );
  };
  return sequence(round(ROUND), round(1), store32(i32(OUT), get(OUT_AT)), giveBack(get(AT)));
}

/** Writes compact text: of each vector the bytes that count, in small letters, one after the other. Gives how many there are. */
function compactLoop(): Code {
  const [COUNT, BITS, TEXT_BYTES, SMALL] = [2, 3, 4, 5] as const;
  const within = (first: string, last: string, bytes: Code): Code =>
    vector.isLess(
      vector.subtract(bytes, vector.splat(first.charCodeAt(0))),
      vector.splat(last.charCodeAt(0) - first.charCodeAt(0) + 1),
    );
  const is = (byte: number): Code => vector.equal(get(TEXT_BYTES), vector.splat(byte));
  const breaks = Array.from(BREAK_LETTER.keys()).filter((byte) => BREAK_LETTER[byte] === 1);
  const isAfterBackslash = vector.equal(vector.load(get(AT), TEXT - 1), vector.splat(BACKSLASH));
  const write = (bits: Code, picks: number): Code =>
    sequence(
      vector.store(get(COUNT), vector.pick(get(SMALL), vector.load8(shiftLeft(bits, i32(3)), picks)), COMPACT),
      set(COUNT, add(get(COUNT), countBits(bits))),
    );
  return sequence(
    loopWhile(
      isLess(get(AT), get(END)),
      store32(shiftRight(get(AT), i32(2)), get(COUNT), COUNTS),
      set(TEXT_BYTES, vector.load(get(AT), TEXT)),
      // Digits have that bit already.
      set(SMALL, vector.or(get(TEXT_BYTES), vector.splat(0x20))),
      set(
        BITS,
        vector.bits(
          vector.without(
            vector.or(within("a", "z", get(SMALL)), within("0", "9", get(TEXT_BYTES))),
            vector.and(isAfterBackslash, breaks.map(is).reduce(vector.or)),
          ),
        ),
      ),
      write(and(get(BITS), i32(0xff)), PICKS),
      write(shiftRight(get(BITS), i32(8)), PICKS + 2048),
      set(AT, add(get(AT), i32(LANES))),
    ),
    giveBack(get(COUNT)),
  );
}

/** What may begin an escape below 0x80. */
const ESCAPING: readonly number[] = [0, 0x0a, 0x2b, BACKSLASH];
/** And in a row: `$%&`, `<=`. */
const ESCAPING_RUNS: readonly (readonly [first: number, last: number])[] = [
  [0x24, 0x26],
  [0x3c, 0x3d],
];

const mayBeAt = (place: Code, tables: number): Code =>
  and(load8(load8(place, TEXT), tables), load8(load8(place, TEXT + 1), tables + 256));

/** Most vectors have nothing that could begin an escape. */
function escapeLoop(): Code {
  const [BITS, PLACE, TEXT_BYTES] = [3, 4, 5] as const;
  const is = (byte: number): Code => vector.equal(get(TEXT_BYTES), vector.splat(byte));
  const isWithin = ([first, last]: readonly [number, number]): Code =>
    vector.isLess(vector.subtract(get(TEXT_BYTES), vector.splat(first)), vector.splat(last - first + 1));
  return sequence(
    loopWhile(
      and(isLess(get(AT), get(END)), isRoom),
      set(TEXT_BYTES, vector.load(get(AT), TEXT)),
      set(
        BITS,
        vector.bits(
          vector.or(
            vector.isAtLeast(get(TEXT_BYTES), vector.splat(0xc2)),
            [...ESCAPING.map(is), ...ESCAPING_RUNS.map(isWithin)].reduce(vector.or),
          ),
        ),
      ),
      loopWhile(
        isMore(get(BITS), i32(0)),
        set(PLACE, add(get(AT), lowestBit(get(BITS)))),
        when(or(mayBeAt(get(PLACE), ESCAPES), mayBeAt(get(PLACE), MORE)), emit(get(PLACE))),
        set(BITS, and(get(BITS), add(get(BITS), i32(-1)))),
      ),
      set(AT, add(get(AT), i32(LANES))),
    ),
    store32(i32(OUT), get(OUT_AT)),
    giveBack(get(AT)),
  );
}

/** Node has it; the types of Node do not say so. */
const { Module, Instance } = (globalThis as unknown as { WebAssembly: WasmApi }).WebAssembly;
interface WasmApi {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object) => { readonly exports: unknown };
}

let compiled: object | undefined;

const compile = (): object =>
  (compiled ??= new Module(
    wasmModule(
      [
        { name: "lookRaw", parameters: 3, locals: ROUND, body: lookLoop(TEXT, RAW_NEAR, RAW_FAR) },
        { name: "lookCompact", parameters: 3, locals: ROUND, body: lookLoop(COMPACT, COMPACT_NEAR, COMPACT_FAR) },
        { name: "compact", parameters: 2, locals: 2, vectors: 2, body: compactLoop() },
        { name: "escapes", parameters: 3, locals: 2, vectors: 1, body: escapeLoop() },
      ],
      PAGES,
    ),
  ));

type Look = (at: number, end: number, out: number) => number;
interface Exports {
  readonly memory: { readonly buffer: ArrayBuffer };
  readonly lookRaw: Look;
  readonly lookCompact: Look;
  readonly escapes: Look;
  readonly compact: (at: number, end: number) => number;
}

/** Which bytes may follow one that may begin an escape, by its bit. The parser of escapes decides; this only spares it most of the text. */
const ESCAPE_PAIRS: readonly (readonly [begins: readonly number[], follows: (byte: number) => boolean])[] = [
  [[BACKSLASH], (byte) => /[ux0-7nr\r\n]/.test(String.fromCharCode(byte))],
  [[0x25], (byte) => /[u0-9a-fA-F]/.test(String.fromCharCode(byte))],
  [[0x26], (byte) => /[#sNzZ]/.test(String.fromCharCode(byte))],
  [[0x3d], (byte) => /[0-9A-F\r\n\\]/.test(String.fromCharCode(byte))],
  [[0xce], (byte) => byte >= 0x91 && byte <= 0xbf],
  [[0xd0, 0xd1], (byte) => byte >= 0x80 && byte <= 0xbf],
  [[0xef], (byte) => byte >= 0xb8 && byte <= 0xbf],
  [[0xf0], (byte) => byte === 0x9d],
  [[0xf3], (byte) => byte === 0xa0],
  ...GAP_BEGINNINGS,
];

/** SECURITY: no place of a text is passed over, wherever it is cut (G-50). Looks for the grams of two tables. Not to be used again by a visitor while it visits. */
export class ScanKernel {
  readonly #exports: Exports;
  readonly #memory: Uint8Array;
  readonly #numbers: Int32Array;

  constructor(raw: readonly GramTable[], compact: readonly GramTable[]) {
    this.#exports = new Instance(compile()).exports as Exports;
    const { buffer } = this.#exports.memory;
    this.#memory = new Uint8Array(buffer);
    this.#numbers = new Int32Array(buffer);
    for (const [index, [begins, follows]] of ESCAPE_PAIRS.entries()) {
      const bit = 1 << (index & 7);
      const tables = index < 8 ? ESCAPES : MORE;
      for (const byte of begins) this.#memory[tables + byte] = bit;
      for (let byte = 0; byte < 256; byte++)
        if (follows(byte)) this.#memory[tables + 256 + byte] = (this.#memory[tables + 256 + byte] ?? 0) | bit;
    }
    for (let bits = 0; bits < 256; bits++) {
      const picked = [0, 1, 2, 3, 4, 5, 6, 7].filter((bit) => (bits & (1 << bit)) !== 0);
      this.#memory.set(picked, PICKS + 8 * bits);
      this.#memory.set(
        picked.map((bit) => bit + 8),
        PICKS + 2048 + 8 * bits,
      );
    }
    for (const table of raw) fillFilters(table, this.#part(RAW_NEAR, NEAR_BYTES), this.#part(RAW_FAR, FAR_BYTES));
    for (const table of compact)
      fillFilters(table, this.#part(COMPACT_NEAR, NEAR_BYTES), this.#part(COMPACT_FAR, FAR_BYTES));
  }

  #part(from: number, bytes: number): Uint8Array {
    return this.#memory.subarray(from, from + bytes);
  }

  /** Through the bytes from `from` to `to`. `before` are the last characters of compact text before them; without it only the raw table is looked at. */
  scan(bytes: Uint8Array, from: number, to: number, before: Uint8Array | undefined, visitor: KernelVisitor): void {
    if (before !== undefined) this.#memory.set(before, COMPACT - BEFORE);
    for (let at = from; at < to; at += BLOCK) {
      const end = Math.min(to, at + BLOCK);
      this.#place(bytes, at, end);
      this.#lookRaw(at, end - at, visitor);
      if (before !== undefined) this.#lookCompact(at, end - at, visitor);
      if (!visitor.escape) continue;
      // What follows the last byte says whether an escape begins there.
      this.#memory[TEXT + end - at] = bytes[end] ?? 0;
      this.#lookEscapes(at, end - at, visitor);
    }
  }

  /** Puts a block into memory, with the bytes before it, and zeros after it. */
  #place(bytes: Uint8Array, from: number, to: number): void {
    const lead = Math.min(from, BEFORE);
    this.#memory.fill(0, TEXT - BEFORE, TEXT);
    this.#memory.set(bytes.subarray(from - lead, to), TEXT - lead);
    this.#memory.fill(0, TEXT + to - from, TEXT + to - from + 2 * LANES);
  }

  #lookRaw(base: number, size: number, visitor: KernelVisitor): void {
    for (let at = 0; at < size;) {
      at = this.#exports.lookRaw(at, size, FIRST_OUT);
      for (let index = FIRST_OUT >> 2; index < this.#lastOut(); index++) {
        const place = this.#numbers[index] ?? 0;
        visitor.raw(this.#gram(TEXT + place), base + place - BEFORE);
      }
    }
  }

  #lookCompact(base: number, size: number, visitor: KernelVisitor): void {
    const count = this.#exports.compact(0, size);
    for (let at = 0; at < count;) {
      at = this.#exports.lookCompact(at, count, FIRST_OUT);
      for (let index = FIRST_OUT >> 2; index < this.#lastOut(); index++) {
        const place = this.#numbers[index] ?? 0;
        visitor.compact?.(this.#gram(COMPACT + place), base + this.#placeOf(place, size));
      }
    }
    this.#memory.copyWithin(COMPACT - BEFORE, COMPACT + count - BEFORE, COMPACT + count);
  }

  #lookEscapes(base: number, size: number, visitor: KernelVisitor): void {
    for (let at = 0; at < size;) {
      at = this.#exports.escapes(at, size, FIRST_OUT);
      for (let index = FIRST_OUT >> 2; index < this.#lastOut(); index++)
        visitor.escape?.(base + (this.#numbers[index] ?? 0));
    }
  }

  /** Behind the last place that a call has told. */
  #lastOut(): number {
    return (this.#numbers[OUT >> 2] ?? 0) >> 2;
  }

  /** The four bytes that end at an address. */
  #gram(address: number): number {
    const memory = this.#memory;
    return (
      (memory[address - 3] ?? 0) |
      ((memory[address - 2] ?? 0) << 8) |
      ((memory[address - 1] ?? 0) << 16) |
      ((memory[address] ?? 0) << 24)
    );
  }

  /** Where in the block a character of compact text is. */
  #placeOf(index: number, size: number): number {
    const counts = COUNTS >> 2;
    let [low, high] = [0, Math.ceil(size / LANES) - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#numbers[counts + middle] ?? 0) <= index) low = middle;
      else high = middle - 1;
    }
    let left = index - (this.#numbers[counts + low] ?? 0);
    for (let at = TEXT + LANES * low; ; at++) {
      const byte = this.#memory[at] ?? 0;
      const isBreak = BREAK_LETTER[byte] === 1 && this.#memory[at - 1] === BACKSLASH;
      if (CLASS_OF[byte] !== 0 && !isBreak && left-- === 0) return at - TEXT;
    }
  }
}
