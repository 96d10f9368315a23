/**
 * A file's time for `utimes` and its like. Node cuts to microseconds what a double can hardly hold; from the middle of one it cuts to the right one.
 * As text, because a number before 1970 would be taken for now.
 */
export function fileTime(ns: bigint): string {
  return String((Number(ns / 1000n) + (ns < 0n ? -0.5 : 0.5)) / 1e6);
}
