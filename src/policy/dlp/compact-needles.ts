import { CLASS_OF, byteOfClass, compactOf } from "./compact-text.ts";
import type { KnownValue, Rule } from "./detector.ts";
import { encodedForms, type Form } from "./encodings.ts";
import { GRAM_LENGTH, GramTable } from "./gram-table.ts";
import type { InjectionPhrase } from "./injection-phrases.ts";
import { numberForms } from "./number-lists.ts";
import { piecesOf, strengthOf, type KnownPiece } from "./known-pieces.ts";
import { rarestAt } from "./rarity.ts";
import { gramOf } from "./raw-needles.ts";

/** Looked for in compact text. */
export type CompactNeedle = KnownNeedle | PhraseNeedle | SeparatedNeedle | NumbersNeedle;

export interface KnownNeedle {
  readonly kind: "known";
  readonly known: KnownValue;
  readonly view: readonly string[];
  /** Classes of its characters. */
  readonly core: Uint8Array;
  /** How many of them in a row are enough. */
  readonly least: number;
  /** Of a value that is mostly separators: the whole of it, since what counts in compact text could come about by chance. */
  readonly exact?: Uint8Array;
}

/** Words of an injection. */
export interface PhraseNeedle {
  readonly kind: "phrase";
  readonly phrase: InjectionPhrase;
  readonly core: Uint8Array;
}

/** A keyword whose characters may have something between them. */
export interface SeparatedNeedle {
  readonly kind: "separated";
  readonly rules: readonly number[];
  readonly keyword: Uint8Array;
  /** Of the keyword, those characters that count. */
  readonly letters: Uint8Array;
  readonly core: Uint8Array;
  /** Only where the same is between all of its characters: otherwise it is a part of words and of tables. */
  readonly isStrict: boolean;
}

/** A keyword whose characters were written as numbers. */
export interface NumbersNeedle {
  readonly kind: "numbers";
  readonly core: Uint8Array;
}

export interface CompactNeedles {
  readonly table: GramTable;
  readonly needles: readonly CompactNeedle[];
}

/** Fewer characters than this could come about by chance, where separators and case do not count. */
const LEAST_CORE = 8;
const LEAST_PART = 20;
const MOST_PART = 32;

/** What rules bring. The same for every policy, so it is made once. */
export function separatedNeedles(rules: readonly Rule[]): CompactNeedles {
  const table = new GramTable();
  const byKeyword = new Map<string, number[]>();
  const strict = new Set<string>();
  const numbered = new Set<string>();
  for (const [index, rule] of rules.entries()) {
    // Names of variables are words, and what follows them is known by nothing else.
    if (rule.pattern.ignoreCase || rule.isCommon === true) continue;
    const isStrict = wantsMore(rule);
    for (const keyword of rule.keywords) {
      numbered.add(keyword);
      const { length } = compactOf(Buffer.from(keyword));
      if (length < GRAM_LENGTH - 1) continue;
      if (isStrict || CLASS_OF[keyword.charCodeAt(0)] === 0) {
        // Three letters and no sign behind them are in every second word.
        if (length >= GRAM_LENGTH || /[_.]$/.test(keyword)) strict.add(spelledSmall(keyword));
      } else byKeyword.set(keyword, [...(byKeyword.get(keyword) ?? []), index]);
    }
  }
  const needles: CompactNeedle[] = [];
  const add = (word: string, indices: readonly number[], isStrict: boolean) => {
    const keyword = Buffer.from(word);
    const core = compactOf(keyword);
    const letters = Uint8Array.from(keyword).filter((byte) => CLASS_OF[byte] !== 0);
    needles.push({ kind: "separated", rules: indices, keyword, letters, core, isStrict });
    enter(table, needles.length - 1, core);
  };
  for (const [word, indices] of byKeyword) add(word, indices, false);
  for (const word of strict) add(word, [], true);
  for (const word of numbered) {
    for (const text of numberForms(Buffer.from(word))) {
      const core = compactOf(Buffer.from(text));
      needles.push({ kind: "numbers", core });
      enter(table, needles.length - 1, core);
    }
  }
  return { table, needles };
}

const spelledSmall = (keyword: string): string => keyword.toLowerCase().replaceAll(/[^a-z0-9]/g, "");

/** A keyword that needs a border is a part of words and of tables: with separators taken out it would be found in every source map. */
const wantsMore = (rule: Rule): boolean => (rule.before ?? 0) > 0 || rule.pattern.source.startsWith("(?<!");

/** For what comes in: no rule is asked about that. */
export function phraseNeedles(list: readonly InjectionPhrase[]): CompactNeedles {
  const table = new GramTable();
  const needles: CompactNeedle[] = [];
  for (const phrase of list) {
    for (const text of phrase.phrases) {
      const core = compactOf(Buffer.from(text));
      needles.push({ kind: "phrase", phrase, core });
      enter(table, needles.length - 1, core);
    }
  }
  return { table, needles };
}

/** A core of three characters is entered once for each that may follow. */
function enter(table: GramTable, needle: number, core: Uint8Array): void {
  const text = core.map(byteOfClass);
  if (text.length >= GRAM_LENGTH) {
    const at = rarest(text, 0, text.length);
    table.add(gramOf(text, at), needle, at);
    return;
  }
  for (let next = 1; next <= 36; next++) table.add(gramOf(Uint8Array.of(...text, byteOfClass(next)), 0), needle, 0);
}

/** Known values in every encoding. */
export function knownNeedles(known: readonly KnownValue[]): CompactNeedles {
  const table = new GramTable();
  const needles: CompactNeedle[] = [];
  for (const one of known) {
    if (strengthOf(one.value) !== "strong") continue;
    for (const piece of piecesOf(one.value)) addPiece({ table, needles }, one, piece);
  }
  return { table, needles };
}

function addPiece(to: { table: GramTable; needles: CompactNeedle[] }, known: KnownValue, piece: KnownPiece): void {
  const itself: Form = { view: [], bytes: piece.bytes, inner: piece.bytes, before: 0 };
  for (const { view, bytes } of [itself, ...encodedForms(piece.bytes)]) {
    const core = compactOf(bytes);
    if (core.length < GRAM_LENGTH) continue;
    if (core.length < LEAST_CORE) {
      to.needles.push({ kind: "known", known, view, core, least: core.length, exact: bytes });
      enter(to.table, to.needles.length - 1, core);
      continue;
    }
    const half = Math.max(LEAST_PART, Math.ceil(core.length / 2));
    const least = piece.isRandom ? Math.min(core.length, half, MOST_PART) : core.length;
    to.needles.push({ kind: "known", known, view, core, least });
    const text = core.map(byteOfClass);
    // Any `least` characters in a row have one whole block in them, and each block has a gram in the table.
    const block = least === core.length ? core.length : Math.floor((least - GRAM_LENGTH + 1) / 2);
    for (let from = 0; from + GRAM_LENGTH <= core.length; from += block) {
      const at = rarest(text, from, from + block);
      to.table.add(gramOf(text, at), to.needles.length - 1, at);
    }
  }
}

function rarest(text: Uint8Array, from: number, to: number): number {
  return rarestAt(text, { from, to: Math.min(to, text.length - GRAM_LENGTH + 1), length: GRAM_LENGTH });
}
