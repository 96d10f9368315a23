import { CLASS_OF } from "./compact-text.ts";
import { Layer } from "./layer.ts";

/** How many bytes a list of numbers is read for, before the place where it was noticed and from there on. */
const BEFORE = 600;
const BEHIND = 1900;
/** What may stand between two numbers. */
const MAX_BETWEEN = 8;
/** Of one number, or of several bytes in hex without anything between them. */
const MAX_DIGITS = 32;

/**
 * How a word is written as a list of numbers in hex, without what stands between them. In decimal it would be a few digits, which every list of numbers has: to look at all
 * of these made such lists four to twenty times as slow.
 */
export function numberForms(word: Uint8Array): string[] {
  const each = (write: (byte: number) => string) => Array.from(word, write).join("");
  const hex = (byte: number) => byte.toString(16).padStart(2, "0");
  return [each(hex), each((byte) => `0x${hex(byte)}`)];
}

/** A list of numbers as the text that they are the characters of, and where the list ends. */
export interface NumberList {
  readonly layer: Layer;
  readonly end: number;
}

/**
 * `41:4b:49:41`, `0x41, 0x4b`, `414b 4941`: all around the first number that was noticed, which begins at `at`.
 *
 * SECURITY: a token whose characters are written as numbers is found as it is in hex (G-192)
 */
export function numberList(parent: Layer, at: number): NumberList {
  const { bytes } = parent;
  const values: Value[] = [];
  let end = at;
  for (let next = firstOf(bytes, at); values.length < BEFORE + BEHIND;) {
    const number = numberAt(bytes, next);
    const more = number && valuesOf(bytes, number);
    if (more === undefined) break;
    values.push(...more);
    end = more.at(-1)?.end ?? end;
    next = end;
    while (CLASS_OF[bytes[next] ?? 0] === 0 && next < bytes.length && next - end < MAX_BETWEEN) next++;
    if (next === end) break;
  }
  const all = (read: (value: Value) => number) => Int32Array.from(values, read);
  const from = { parent, starts: all(({ start }) => start), ends: all((value) => value.end) };
  const text = Uint8Array.from(values, ({ value }) => value);
  return { layer: new Layer(text, [...parent.view, "hex"], from), end };
}

interface Run {
  readonly start: number;
  readonly end: number;
}

function numberAt(bytes: Uint8Array, start: number): Run | undefined {
  let end = start;
  while (CLASS_OF[bytes[end] ?? 0] !== 0 && end < bytes.length && end - start <= MAX_DIGITS) end++;
  return end === start ? undefined : { start, end };
}

/** The list may have begun before what was noticed: a key has words before its name. */
function firstOf(bytes: Uint8Array, at: number): number {
  let first = startOf(bytes, at);
  if (valuesOf(bytes, { start: first, end: at }) === undefined) first = at;
  for (let count = 0; count < BEFORE; count++) {
    let end = first;
    while (end > 0 && CLASS_OF[bytes[end - 1] ?? 0] === 0 && first - end < MAX_BETWEEN) end--;
    const start = startOf(bytes, end);
    if (end === first || start === end || valuesOf(bytes, { start, end }) === undefined) break;
    first = start;
  }
  return first;
}

/** Of the letters and digits before a place. */
function startOf(bytes: Uint8Array, end: number): number {
  let start = end;
  while (start > 0 && CLASS_OF[bytes[start - 1] ?? 0] !== 0 && end - start <= MAX_DIGITS) start--;
  return start;
}

interface Value extends Run {
  readonly value: number;
}

/** Undefined for what is no number of a byte, or several in hex. */
function valuesOf(bytes: Uint8Array, { start, end }: Run): Value[] | undefined {
  const text = String.fromCharCode(...bytes.subarray(start, end));
  const digits = /^(?:0?x)?((?:[0-9a-f]{2})+)$/i.exec(text)?.[1];
  if (digits === undefined) return undefined;
  const first = end - digits.length;
  return Array.from({ length: digits.length / 2 }, (_, pair) => {
    const from = first + 2 * pair;
    return { value: Number.parseInt(digits.slice(2 * pair, 2 * pair + 2), 16), start: from, end: from + 2 };
  });
}
