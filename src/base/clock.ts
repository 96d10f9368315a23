/** Time as a value, so that tests need no real waiting. */
export interface Clock {
  /** Unix time in seconds, with fractions. */
  now(): number;
}

export const systemClock: Clock = { now: () => Date.now() / 1000 };
