/** A change, as far as it matters to others. Paths are bytes, one character each. */
export interface PlacedChange {
  /** Where a file or link was; undefined when there was none. */
  readonly from: string | undefined;
  /** Where one is now. */
  readonly to: string | undefined;
  /** Whether a patch can tell it. */
  readonly isTold: boolean;
}

/**
 * The changes whose patches can be applied together. What is not told by a patch stays where it was: nothing can come below a file that stays, nor
 * take the place of a folder in which one does.
 */
export function patchesThatApply<T extends PlacedChange>(changes: readonly T[]): Set<T> {
  const told = new Set(changes.filter(({ isTold }) => isTold));
  const arrivals = [...told]
    .flatMap((one) => (one.to === undefined ? [] : [{ one, key: keyOf(one.to) }]))
    .sort((a, b) => (a.key < b.key ? -1 : 1));
  const staying = changes.flatMap((one) => (one.from === undefined || told.has(one) ? [] : [keyOf(one.from)]));
  for (const key of staying) {
    for (const one of inTheWayOf(key, arrivals)) {
      // One that moves a file leaves it where it was now, which may be in the way of another.
      if (told.delete(one) && one.from !== undefined) staying.push(keyOf(one.from));
    }
  }
  return told;
}

interface Arrival<T> {
  readonly one: T;
  readonly key: string;
}

/** So that what is in a folder comes right behind it when keys are sorted. Joined, because `replaceAll` leaves a string that is slow to compare. */
const keyOf = (path: string): string => path.split("/").join("\0");

/**
 * What cannot come while something stays at `key`. Files lie in no other file: so one whose place is a folder above is the last before it, and those below
 * follow it. Time is that of the names, whatever a sandbox has made of them.
 */
function inTheWayOf<T>(key: string, arrivals: readonly Arrival<T>[]): T[] {
  const found: T[] = [];
  const start = firstFrom(key, arrivals);
  for (let at = start - 1, before = arrivals[at]; before && isIn(before.key, key); before = arrivals[--at]) {
    found.push(before.one);
  }
  for (let at = start, next = arrivals[at]; next && (next.key === key || isIn(key, next.key)); next = arrivals[++at]) {
    if (next.key !== key) found.push(next.one);
  }
  return found;
}

const isIn = (folder: string, key: string): boolean => key.startsWith(folder) && key[folder.length] === "\0";

/** The place of the first that is not before `key`. */
function firstFrom<T>(key: string, arrivals: readonly Arrival<T>[]): number {
  let [low, high] = [0, arrivals.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((arrivals[middle]?.key ?? "") < key) low = middle + 1;
    else high = middle;
  }
  return low;
}
