/**
 * A file's time for `utimes` and its like. Node rounds it down to microseconds, and a double can be just below the right one: so half a microsecond is added.
 * As text, because a number before 1970 would be taken for now.
 */
export function fileTime(ns: bigint): string {
  return String((Number(ns / 1000n) + (ns < 0n ? -0.5 : 0.5)) / 1e6);
}
