import { compactOf } from "./compact-text.ts";
import type { KnownValue } from "./detector.ts";
import type { ViewName } from "./encodings.ts";
import { GRAM_LENGTH, GramTable } from "./gram-table.ts";
import { piecesOf, strengthOf } from "./known-pieces.ts";
import { NeedleTexts } from "./needle-texts.ts";
import { rarestAt } from "./rarity.ts";

/** Looked for in the bytes as they stand. */
export type RawNeedle = KeywordNeedle | EncodedNeedle | ExactNeedle;

/** A word of some rules: their patterns are tried around it. */
export interface KeywordNeedle {
  readonly kind: "keyword";
  readonly length: number;
  readonly rules: readonly number[];
}

/** A keyword inside of an encoding: what is around it is decoded, and scanned again. */
export interface EncodedNeedle {
  readonly kind: "encoded";
  readonly encoding: DecodedView;
  /** Bytes of its group before it. */
  readonly before: number;
  /** What it is when it is decoded. */
  readonly inner: Uint8Array;
}

/** A known value. */
export interface ExactNeedle {
  readonly kind: "exact";
  readonly length: number;
  readonly known: KnownValue;
  readonly view: readonly ViewName[];
  /** Only with no letter or digit before or after it. */
  readonly isWord: boolean;
}

export type DecodedView = Extract<ViewName, "base64" | "base32" | "hex" | "reversed">;

/** Needles by their numbers. What one is, is put together when it is found. */
export interface RawNeedles {
  readonly table: GramTable;
  readonly texts: NeedleTexts;
  get(needle: number): RawNeedle;
}

/** Known values as they stand. */
export function exactNeedles(values: readonly KnownValue[]): RawNeedles {
  const table = new GramTable();
  const texts = new NeedleTexts();
  const needles: ExactNeedle[] = [];
  for (const known of values) {
    const strength = strengthOf(known.value);
    if (strength === "none") continue;
    const add = (bytes: Uint8Array, view: readonly ViewName[]) => {
      needles.push({ kind: "exact", length: bytes.length, known, view, isWord: strength === "weak" });
      const at = rarestGram(bytes);
      table.add(gramOf(bytes, at), texts.add(bytes), at);
    };
    for (const { bytes } of piecesOf(known.value)) {
      add(bytes, []);
      // Compact text has next to nothing of it; encodings of it have enough.
      if (strength === "strong" && compactOf(bytes).length < GRAM_LENGTH) add(bytes.toReversed(), ["reversed"]);
    }
  }
  return { table, texts, get: (needle) => needles[needle] ?? unknownNeedle() };
}

export function unknownNeedle(): never {
  throw new RangeError("a needle that is not there");
}

/** Where the gram is that a needle is entered with. */
export const rarestGram = (bytes: Uint8Array): number =>
  rarestAt(bytes, { from: 0, to: bytes.length - GRAM_LENGTH + 1, length: GRAM_LENGTH });

/** As the kernel reads four bytes at once. */
export const gramOf = (bytes: Uint8Array, at: number): number =>
  (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8) | ((bytes[at + 2] ?? 0) << 16) | ((bytes[at + 3] ?? 0) << 24);
