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
  for (;;) {
    const staying = new Set(changes.flatMap((one) => (one.from === undefined || told.has(one) ? [] : [one.from])));
    const folders = new Set([...staying].flatMap(foldersAbove));
    const isObstructed = ({ to }: T) =>
      to !== undefined && (folders.has(to) || foldersAbove(to).some((folder) => staying.has(folder)));
    const obstructed = [...told].filter(isObstructed);
    if (obstructed.length === 0) return told;
    // One that moves a file leaves it where it was now, which may obstruct another.
    for (const one of obstructed) told.delete(one);
  }
}

const foldersAbove = (path: string): string[] => [...path.matchAll(/\//g)].map(({ index }) => path.slice(0, index));
