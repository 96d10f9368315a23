import type { GramTable } from "./gram-table.ts";

/**
 * Bits that say which grams are in no table. There are two filters: one that is asked for every byte, so it fits into the fastest memory of a processor, and one that
 * is asked where the first says yes. They are in the kernel's memory only.
 */
export const NEAR_BYTES = 2 ** 15 + 4;
export const FAR_BYTES = 2 ** 18 + 4;
// Four more than a power of two: the kernel reads four bytes wherever a hash says, and one bit of these.
export const FIRST_FACTOR = 0x9e3779b1 | 0;
export const SECOND_FACTOR = 0x85ebca77 | 0;

/** Marks what is in a table. */
export function fillFilters(table: GramTable, near: Uint8Array, far: Uint8Array): void {
  table.forEachGram((gram) => {
    mark(near, placeIn(Math.imul(gram, FIRST_FACTOR), NEAR_BYTES));
    mark(far, placeIn(Math.imul(gram, SECOND_FACTOR), FAR_BYTES));
  });
}

/** Which bit of a filter a hash stands for: the upper bits say where, the next five which. */
function placeIn(hash: number, bytes: number): number {
  const bits = Math.floor(Math.log2(bytes));
  return 8 * (hash >>> (32 - bits)) + ((hash >>> (27 - bits)) & 31);
}

function mark(filter: Uint8Array, bit: number): void {
  filter[bit >> 3] = (filter[bit >> 3] ?? 0) | (1 << (bit & 7));
}
