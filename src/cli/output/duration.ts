import { formatAge } from "../../base/duration.ts";

export { formatAge };

/** `in 59m`, or `now` when the time has come. */
export const formatUntil = (seconds: number): string => (seconds <= 0 ? "now" : `in ${formatAge(seconds)}`);

/** `12 ms`, `1.4 s`. */
export function formatElapsed(milliseconds: number): string {
  return milliseconds < 1000 ? `${Math.round(milliseconds)} ms` : `${(milliseconds / 1000).toFixed(1)} s`;
}

/** Unix seconds as local date and time, to the second. */
export function formatTime(unixSeconds: number): string {
  const date = new Date(unixSeconds * 1000);
  const two = (value: number) => String(value).padStart(2, "0");
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}
