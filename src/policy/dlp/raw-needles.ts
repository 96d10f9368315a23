import { compactOf } from "./compact-text.ts";
import type { KnownValue, Rule } from "./detector.ts";
import { wordForms, type Form, type ViewName } from "./encodings.ts";
import { GRAM_LENGTH, GramTable } from "./gram-table.ts";
import { piecesOf, strengthOf } from "./known-pieces.ts";
import { rarestAt } from "./rarity.ts";

/** Looked for in the bytes as they stand. */
export type RawNeedle = KeywordNeedle | EncodedNeedle | ExactNeedle;

/** A word of some rules: their patterns are tried around it. */
export interface KeywordNeedle {
  readonly kind: "keyword";
  readonly bytes: Uint8Array;
  readonly rules: readonly number[];
}

/** A keyword inside of an encoding: what is around it is decoded, and scanned again. */
export interface EncodedNeedle {
  readonly kind: "encoded";
  readonly bytes: Uint8Array;
  readonly encoding: DecodedView;
  /** Bytes of its group before it. */
  readonly before: number;
  /** What it is when it is decoded. */
  readonly inner: Uint8Array;
}

/** A known value. */
export interface ExactNeedle {
  readonly kind: "exact";
  readonly bytes: Uint8Array;
  readonly known: KnownValue;
  readonly view: readonly ViewName[];
  /** Only with no letter or digit before or after it. */
  readonly isWord: boolean;
}

export type DecodedView = Extract<ViewName, "base64" | "base32" | "hex" | "reversed">;

export interface RawNeedles {
  readonly table: GramTable;
  readonly needles: readonly RawNeedle[];
}

const AFTER_SHORT = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.~";
/** One character for each upper half of a byte. */
const FIRST_HALVES = "-0APap";

/** As the kernel reads four bytes at once. */
const gramOf = (bytes: Uint8Array, at: number): number => Buffer.from(bytes).readInt32LE(at);

/** What rules bring. The same for every policy, so it is made once. */
export function keywordNeedles(rules: readonly Rule[]): RawNeedles {
  const list = new NeedleList();
  for (const [word, indices] of byKeyword(rules)) {
    const isNested = indices.some((index) => isTelling(rules[index]));
    const isShort = word.length < GRAM_LENGTH;
    // Too short for a gram: with each character that may follow.
    for (const one of isShort ? Array.from(AFTER_SHORT, (next) => word + next) : [word]) {
      list.addWord(Buffer.from(one), indices);
    }
    if (!isNested && word !== word.toLowerCase()) continue;
    if (!isShort) list.addForms(Buffer.from(word), isNested);
    else for (const next of FIRST_HALVES) list.addShortForms(Buffer.from(word), Buffer.from(word + next));
  }
  // Without what it only needed to be made.
  return { table: list.table, needles: list.needles };
}

/** A token that says itself what it is: its keyword is the start of it. */
const isTelling = (rule: Rule | undefined): boolean =>
  rule !== undefined && !rule.pattern.ignoreCase && rule.isCommon !== true;

function byKeyword(rules: readonly Rule[]): Map<string, number[]> {
  const result = new Map<string, number[]>();
  for (const [index, rule] of rules.entries()) {
    for (const keyword of rule.keywords) {
      const indices = result.get(keyword);
      if (indices) indices.push(index);
      else result.set(keyword, [index]);
    }
  }
  return result;
}

class NeedleList {
  readonly table = new GramTable();
  readonly needles: RawNeedle[] = [];
  readonly #seen = new Set<string>();

  addWord(bytes: Uint8Array, rules: readonly number[]): void {
    this.#add({ kind: "keyword", bytes, rules });
  }

  addForms(word: Uint8Array, isNested: boolean): void {
    for (const form of wordForms(word, isNested)) this.#addForm(form.bytes, form);
  }

  /** A word that was made longer by one character: only what its first half decides is entered. Turned around, a short word is in every text. */
  addShortForms(word: Uint8Array, longer: Uint8Array): void {
    for (const form of wordForms(longer, false)) {
      const inner = form.inner === longer ? word : form.inner;
      this.#addForm(form.bytes.subarray(0, form.view[0] === "hex" ? 2 * word.length : GRAM_LENGTH), { ...form, inner });
    }
  }

  #addForm(bytes: Uint8Array, { view, before, inner }: Form): void {
    const [encoding] = view as [DecodedView];
    const key = `${encoding} ${before} ${Buffer.from(bytes).toString("latin1")}`;
    if (bytes.length < GRAM_LENGTH || this.#seen.has(key)) return;
    this.#seen.add(key);
    this.#add({ kind: "encoded", bytes, encoding, before, inner });
  }

  #add(needle: RawNeedle): void {
    this.needles.push(needle);
    enter(this.table, this.needles.length - 1, needle.bytes);
  }
}

export function withExactValues(base: RawNeedles, known: readonly KnownValue[]): RawNeedles {
  const table = base.table.clone();
  const needles = [...base.needles];
  for (const one of known) {
    const strength = strengthOf(one.value);
    if (strength === "none") continue;
    const add = (bytes: Uint8Array, view: readonly ViewName[]) => {
      needles.push({ kind: "exact", bytes, known: one, view, isWord: strength === "weak" });
      enter(table, needles.length - 1, bytes);
    };
    for (const { bytes } of piecesOf(one.value)) {
      add(bytes, []);
      // Compact text has next to nothing of it; encodings of it have enough.
      if (strength === "strong" && compactOf(bytes).length < GRAM_LENGTH) add(bytes.toReversed(), ["reversed"]);
    }
  }
  return { table, needles };
}

function enter(table: GramTable, needle: number, bytes: Uint8Array): void {
  const at = rarestAt(bytes, { from: 0, to: bytes.length - GRAM_LENGTH + 1, length: GRAM_LENGTH });
  table.add(gramOf(bytes, at), needle, at);
}
