import type { DetectorName } from "../finding.ts";
import type { Rule } from "../detector.ts";

/** Characters that tokens are made of, as the inside of a class of a pattern. */
export const ALNUM = "A-Za-z0-9";
export const LOWER = "a-z0-9";
export const UPPER = "A-Z0-9";
export const HEX = "a-f0-9";
export const WORD = "A-Za-z0-9_";
export const URLSAFE = "A-Za-z0-9_-";
export const BASE64 = "A-Za-z0-9+/";
export const BASE58 = "1-9A-HJ-NP-Za-km-z";

/** No letter or digit before: but the `n` of a `\n` that a string of JSON has there is no letter. */
export const BORDER = "(?<!(?<!\\\\)[A-Za-z0-9])";

type Length = number | readonly [least: number, most: number];
const leastOf = (length: Length): number => (typeof length === "number" ? length : length[0]);
const quantifier = (length: Length): string =>
  typeof length === "number" ? `{${length}}` : `{${length[0]},${length[1]}}`;
const literally = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");

interface Shape {
  readonly id: string;
  readonly description: string;
  readonly detector?: DetectorName;
  readonly severity?: Rule["severity"];
}

/** A token that begins with a word of its own and goes on with characters of one kind. */
interface Prefixed extends Shape {
  /** Any of these, of at least 3 characters. */
  readonly prefix: string | readonly string[];
  readonly of: string;
  readonly length: Length;
  /** What comes after them, as a pattern, and a text that fits it. */
  readonly then?: readonly [pattern: string, sample: () => string];
  /** For a prefix that may also be the end of a word. */
  readonly border?: boolean;
}

export function prefixed({ prefix, of, length, then, border, ...shape }: Prefixed): Rule {
  const prefixes = typeof prefix === "string" ? [prefix] : prefix;
  const [rest, restSample] = then ?? ["", () => ""];
  const words = prefixes.map(literally).join("|");
  const [first = ""] = prefixes;
  return {
    detector: "tokens",
    severity: "high",
    ...shape,
    keywords: prefixes,
    pattern: new RegExp(`${border === true ? BORDER : ""}(?:${words})[${of}]${quantifier(length)}${rest}`),
    accept: isNoPlaceholder,
    hit: () => `${first}${sample(of, leastOf(length))}${restSample()}`,
    miss: () => `${first}${sample(of, Math.max(0, leastOf(length) - 1))} `,
  };
}

/** A value that only its name tells: `NAME = "value"`, in any language, also inside of a string. */
interface Assigned extends Shape {
  /** In lower case with `_`; each is found in capitals, with `-`, and in camel case too. */
  readonly names: readonly string[];
  readonly of: string;
  readonly length: Length;
}

export function assigned({ names, of, length, ...shape }: Assigned): Rule {
  const [first = ""] = names;
  const words = names.map((name) => name.replaceAll("_", "[_-]?")).join("|");
  return {
    detector: "tokens",
    severity: "high",
    ...shape,
    keywords: [...new Set(names.flatMap(spellings))],
    pattern: new RegExp(
      `(?:${words})["'\`\\\\\\]]{0,3}\\s{0,3}(?:=>|:=|[:=])\\s{0,3}["'\`\\\\]{0,3}(?<value>[${of}]${quantifier(length)})(?![${of}])`,
      "i",
    ),
    accept: isNoPlaceholder,
    hit: () => `${first}="${sample(of, leastOf(length))}"`,
    miss: () => `${first}="${sample(of, leastOf(length) - 1)}"`,
  };
}

/** Anything else. */
interface Shaped extends Shape, Pick<Rule, "keywords" | "pattern" | "hit" | "miss"> {
  readonly isCommon?: boolean;
  readonly before?: number;
  readonly ahead?: number;
  readonly accept?: (value: string) => boolean;
  readonly runsOn?: boolean;
}

export const shaped = (shape: Shaped): Rule => ({
  detector: "tokens",
  severity: "high",
  accept: isNoPlaceholder,
  ...shape,
});

/** How people write a name. */
function spellings(name: string): string[] {
  const words = name.split("_");
  const capital = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join("");
  return [
    name,
    name.toUpperCase(),
    words.join("-"),
    words.join("-").toUpperCase(),
    words.join(""),
    capital,
    capital.charAt(0).toLowerCase() + capital.slice(1),
  ];
}

/** What documents have in the place of a value. */
export function isNoPlaceholder(value: string): boolean {
  if (/x{6}|X{6}|\*{4}|\.{4}|_{4}|your[_-]|placeholder|changeme|insert[_-]/.test(value)) return false;
  const end = value.slice(-16);
  return new Set(end).size > 1;
}

/** Bits of a character, by how often each is in the value. */
export function entropyOf(value: string): number {
  const counts = new Map<string, number>();
  for (const character of value) counts.set(character, (counts.get(character) ?? 0) + 1);
  return [...counts.values()].reduce((sum, count) => sum - (count / value.length) * Math.log2(count / value.length), 0);
}

/** A made-up text of characters of a class: always the same one, with digits and letters. It stands for a token in the vectors, which are put together when a test runs. */
export function sample(of: string, length: number): string {
  const alphabet = Array.from({ length: 95 }, (_, at) => String.fromCharCode(0x20 + at)).filter((one) =>
    new RegExp(`[${of}]`).test(one),
  );
  let state = length + of.length;
  return Array.from({ length }, () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return alphabet[(state >>> 12) % alphabet.length] ?? "";
  }).join("");
}
