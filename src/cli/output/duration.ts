const UNITS = [
  ["d", 86_400],
  ["h", 3600],
  ["m", 60],
] as const;

/** `45s`, `3m`, `2h`, `9d`: the largest unit that fits, rounded down. */
export function formatAge(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  for (const [unit, size] of UNITS) if (whole >= size) return `${Math.floor(whole / size)}${unit}`;
  return `${whole}s`;
}

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
