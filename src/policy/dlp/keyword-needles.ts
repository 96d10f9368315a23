import { createHash } from "node:crypto";
import { deserialize, serialize } from "node:v8";
import type { Rule } from "./detector.ts";
import { wordForms, type Form } from "./encodings.ts";
import { GRAM_LENGTH, GramTable } from "./gram-table.ts";
import { NeedleTexts, type StoredTexts } from "./needle-texts.ts";
import { type DecodedView, type RawNeedle, type RawNeedles, gramOf, rarestGram, unknownNeedle } from "./raw-needles.ts";

const AFTER_SHORT = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.~";
/** One character for each upper half of a byte. */
const FIRST_HALVES = "-0APap";
const ENCODINGS: readonly DecodedView[] = ["base64", "base32", "hex", "reversed"];
/** What a needle is, in one number: 0 for a keyword and 1 to 4 for an encoding; bytes of its group before it; and which rules, or which inner text. */
const KIND_BITS = 3;
const BEFORE_BITS = 3;
const REST = KIND_BITS + BEFORE_BITS;

/**
 * The words that rules bring, in every encoding: fourteen thousand needles that are the same for every policy. To make them takes half a second and leaves much behind, so a
 * gate reads them from a file that was written when the package was built.
 */
export class KeywordNeedles implements RawNeedles {
  readonly table: GramTable;
  readonly texts: NeedleTexts;
  readonly #facts: Int32Array;
  readonly #inner: NeedleTexts;
  readonly #lists: StoredNeedles["lists"];

  private constructor({ texts, places, grams, facts, inner, lists }: StoredNeedles) {
    this.texts = new NeedleTexts(texts);
    this.#inner = new NeedleTexts(inner);
    this.#facts = facts;
    this.#lists = lists;
    this.table = GramTable.withRoom(grams.length);
    for (let needle = 0; needle < grams.length; needle++)
      this.table.add(grams[needle] ?? unknownNeedle(), needle, places[needle] ?? unknownNeedle());
  }

  static make(rules: readonly Rule[]): KeywordNeedles {
    return new KeywordNeedles(new NeedleMaker(rules).stored());
  }

  /** As `unpack` takes them. */
  static pack(rules: readonly Rule[]): Buffer {
    const bytes = serialize({ rules: digestOf(rules), ...new NeedleMaker(rules).stored() });
    return Buffer.concat([sha256(bytes), bytes]);
  }

  /** SECURITY: words of other rules, or a part of them, would leave a gate blind for the rest: then there are none, and they are made anew (G-70) */
  static unpack(packed: Buffer, rules: readonly Rule[]): KeywordNeedles | undefined {
    const bytes = packed.subarray(SUM_BYTES);
    if (!sha256(bytes).equals(packed.subarray(0, SUM_BYTES))) return undefined;
    const stored = deserialize(bytes) as StoredNeedles & { rules: string };
    return stored.rules === digestOf(rules) ? new KeywordNeedles(stored) : undefined;
  }

  get(needle: number): RawNeedle {
    const fact = this.#facts[needle] ?? unknownNeedle();
    const kind = fact & ((1 << KIND_BITS) - 1);
    const rest = fact >> REST;
    if (kind === 0)
      return { kind: "keyword", length: this.texts.get(needle).length, rules: this.#lists[rest] ?? unknownNeedle() };
    return {
      kind: "encoded",
      encoding: ENCODINGS[kind - 1] ?? unknownNeedle(),
      before: (fact >> KIND_BITS) & ((1 << BEFORE_BITS) - 1),
      inner: this.#inner.get(rest),
    };
  }
}

interface StoredNeedles {
  readonly texts: StoredTexts;
  /** Of each, where its rarest gram is. */
  readonly places: Int32Array;
  /** And which it is. */
  readonly grams: Int32Array;
  readonly facts: Int32Array;
  readonly inner: StoredTexts;
  /** Indices of the rules that have a word. */
  readonly lists: readonly (readonly number[])[];
}

const SUM_BYTES = 32;
const sha256 = (bytes: Uint8Array): Buffer => createHash("sha256").update(bytes).digest();

/** Of all that the needles are made of. */
const digestOf = (rules: readonly Rule[]): string =>
  sha256(
    Buffer.from(
      JSON.stringify(rules.map(({ id, keywords, pattern, isCommon }) => [id, keywords, pattern.flags, isCommon])),
    ),
  ).toString("hex");

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

/** All that the words of rules are looked for as. */
class NeedleMaker {
  readonly #texts = new NeedleTexts();
  readonly #places: number[] = [];
  readonly #grams: number[] = [];
  readonly #facts: number[] = [];
  readonly #inner = new NeedleTexts();
  readonly #innerNumbers = new Map<string, number>();
  readonly #lists: (readonly number[])[] = [];
  readonly #seen = new Set<string>();

  constructor(rules: readonly Rule[]) {
    for (const [word, indices] of byKeyword(rules)) {
      this.#lists.push(indices);
      this.#addWord(
        word,
        indices.some((index) => isTelling(rules[index])),
      );
    }
  }

  stored(): StoredNeedles {
    return {
      texts: this.#texts.stored(),
      places: Int32Array.from(this.#places),
      grams: Int32Array.from(this.#grams),
      facts: Int32Array.from(this.#facts),
      inner: this.#inner.stored(),
      lists: this.#lists,
    };
  }

  /** Of the last list of rules. */
  #addWord(word: string, isNested: boolean): void {
    const isShort = word.length < GRAM_LENGTH;
    // Too short for a gram: with each character that may follow.
    for (const one of isShort ? Array.from(AFTER_SHORT, (next) => word + next) : [word])
      this.#add(Buffer.from(one), (this.#lists.length - 1) << REST);
    if (!isNested && word !== word.toLowerCase()) return;
    if (!isShort) for (const form of wordForms(Buffer.from(word), isNested)) this.#addForm(form.bytes, form);
    else for (const next of FIRST_HALVES) this.#addShortForms(Buffer.from(word), Buffer.from(word + next));
  }

  /** A word that was made longer by one character: only what its first half decides is entered. Turned around, a short word is in every text. */
  #addShortForms(word: Uint8Array, longer: Uint8Array): void {
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
    const kind = 1 + ENCODINGS.indexOf(encoding);
    this.#add(bytes, kind | (before << KIND_BITS) | (this.#innerNumber(inner) << REST));
  }

  #innerNumber(inner: Uint8Array): number {
    const key = Buffer.from(inner).toString("latin1");
    const number = this.#innerNumbers.get(key) ?? this.#inner.add(inner);
    this.#innerNumbers.set(key, number);
    return number;
  }

  #add(bytes: Uint8Array, fact: number): void {
    this.#texts.add(bytes);
    const at = rarestGram(bytes);
    this.#places.push(at);
    this.#grams.push(gramOf(bytes, at));
    this.#facts.push(fact);
  }
}
