/**
 * Every result has a budget, which counts its structured content as it is sent: hosts show their model that and leave the text out, and Codex cuts what has
 * more than 12,000 characters once more. A model reads the beginning and the end best, so what is longer is cut in the middle, with a line that says how much
 * is missing and how to get it. Lengths are those of JSON, in which a line break is two characters.
 */
export const RESULT_BUDGET = 12_000;
/** For the one field that a result is about. */
export const TEXT_BUDGET = 8_000;
/** For what is rarely long when the rest is. */
export const SIDE_BUDGET = 2_000;

export const jsonLength = (value: unknown): number => (value === undefined ? 0 : JSON.stringify(value).length);

/** The longest beginning of a text that fits. */
export function headThatFits(text: string, budget: number): string {
  if (jsonLength(text) <= budget) return text;
  let [fits, tooLong] = [0, text.length];
  while (tooLong - fits > 1) {
    const middle = Math.floor((fits + tooLong) / 2);
    if (jsonLength(text.slice(0, middle)) <= budget) fits = middle;
    else tooLong = middle;
  }
  return text.slice(0, beforeSurrogate(text, fits));
}

/** Cuts the middle out. `how` ends the sentence that begins with what is missing; it is told where that begins. */
export function cutMiddle(text: string, budget: number, how: string | ((offset: number) => string)): string {
  if (jsonLength(text) <= budget) return text;
  const head = headThatFits(text, Math.floor(budget / 2));
  const tail = tailThatFits(text.slice(head.length), Math.floor(budget / 2));
  const missing = count(text.length - head.length - tail.length);
  return `${head}\n[… ${missing} characters left out; ${typeof how === "string" ? how : how(head.length)} …]\n${tail}`;
}

function tailThatFits(text: string, budget: number): string {
  const reversed = headThatFits(Array.from(text.slice(-budget)).toReversed().join(""), budget);
  return Array.from(reversed).toReversed().join("");
}

/** Keeps the first entries. */
export function firstEntries<Entry>(entries: readonly Entry[], budget = TEXT_BUDGET): Entry[] {
  let room = budget;
  const end = entries.findIndex((entry) => (room -= jsonLength(entry) + 1) < 0);
  return end === -1 ? [...entries] : entries.slice(0, Math.max(1, end));
}

export interface Page<Entry> {
  readonly entries: Entry[];
  /** For the next call; null at the end. */
  readonly nextCursor: number | null;
}

/** One page of a list, from a cursor on: as many as fit. */
export function page<Entry>(all: readonly Entry[], cursor = 0): Page<Entry> {
  const entries = firstEntries(all.slice(cursor));
  const end = cursor + entries.length;
  return { entries, nextCursor: end < all.length ? end : null };
}

/** Reads so much that it fits: once more with less when much of it has to be escaped. */
export async function readThatFits<Result>(
  read: (size: number) => Promise<Result>,
  textOf: (result: Result) => string,
  asked = TEXT_BUDGET,
): Promise<Result> {
  let size = Math.min(asked, TEXT_BUDGET);
  for (;;) {
    const result = await read(size);
    const length = jsonLength(textOf(result));
    if (length <= TEXT_BUDGET || size <= 16) return result;
    size = Math.max(16, Math.floor((size * TEXT_BUDGET * 0.9) / length));
  }
}

export const count = (number: number): string => number.toLocaleString("en-US");

/** A cut between two halves of a character would make two broken ones. */
function beforeSurrogate(text: string, at: number): number {
  const unit = text.charCodeAt(at);
  return unit >= 0xdc00 && unit <= 0xdfff ? at - 1 : at;
}
