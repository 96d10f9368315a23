/**
 * Every result has a budget: a host pays for each character, and its model reads the beginning and the end best. What is longer is cut in the middle, with
 * a line that says how much is missing and how to get it. With the rest of a result it stays below the 12,000 characters at which Codex cuts once more, and
 * would take just that line out.
 */
export const TEXT_BUDGET = 9_000;
/** For what is rarely long when the rest is. */
export const SIDE_BUDGET = 2_000;
export const ENTRY_BUDGET = 500;

/** Cuts the middle out. `how` ends the sentence that begins with what is missing. */
export function cutMiddle(text: string, budget: number, how: string): string {
  if (text.length <= budget) return text;
  const half = Math.floor(budget / 2);
  const head = text.slice(0, beforeSurrogate(text, half));
  const tail = text.slice(beforeSurrogate(text, text.length - half));
  return `${head}\n[… ${count(text.length - head.length - tail.length)} characters left out; ${how} …]\n${tail}`;
}

/** Keeps the first entries. */
export function firstEntries<Entry>(entries: readonly Entry[], budget = ENTRY_BUDGET): Entry[] {
  return entries.slice(0, budget);
}

export interface Page<Entry> {
  readonly entries: Entry[];
  /** For the next call; null at the end. */
  readonly nextCursor: number | null;
}

/** One page of a list, from a cursor on. */
export function page<Entry>(all: readonly Entry[], cursor = 0, size = ENTRY_BUDGET): Page<Entry> {
  const end = cursor + size;
  return { entries: all.slice(cursor, end), nextCursor: end < all.length ? end : null };
}

export const count = (number: number): string => number.toLocaleString("en-US");

/** A cut between two halves of a character would make two broken ones. */
function beforeSurrogate(text: string, at: number): number {
  const unit = text.charCodeAt(at);
  return unit >= 0xdc00 && unit <= 0xdfff ? at - 1 : at;
}
