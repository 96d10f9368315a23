/** A whole number from 0 on, below this one. */
export type Random = (below: number) => number;

/** Numbers that are the same in every run, so that a failing case can be run again. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  return (below) => {
    // mulberry32
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}
