import { formatAge } from "../../base/duration.ts";
import { formatTime } from "../../base/local-time.ts";

export { formatAge, formatTime };

/** `in 59m`, or `now` when the time has come. */
export const formatUntil = (seconds: number): string => (seconds <= 0 ? "now" : `in ${formatAge(seconds)}`);

/** `12 ms`, `1.4 s`. */
export function formatElapsed(milliseconds: number): string {
  return milliseconds < 1000 ? `${Math.round(milliseconds)} ms` : `${(milliseconds / 1000).toFixed(1)} s`;
}
