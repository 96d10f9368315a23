const SECONDS: Readonly<Record<string, number>> = { "": 1, s: 1, m: 60, h: 3600, d: 86_400 };

/** `90`, `90s`, `1.5m`, `2h` or `1d` as seconds; undefined for anything else, and for nothing or less. */
export function parseDuration(text: string): number | undefined {
  const [, amount = "", unit = ""] = /^(\d+(?:\.\d+)?)([smhd]?)$/.exec(text) ?? [];
  const seconds = Number(amount) * (SECONDS[unit] ?? 1);
  return Number.isFinite(seconds) && seconds > 0 ? seconds : undefined;
}

const LARGEST_FIRST = [
  ["d", 86_400],
  ["h", 3600],
  ["m", 60],
] as const;

/** `45s`, `3m`, `2h`, `9d`: the largest unit that fits, rounded down. */
export function formatAge(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  for (const [unit, size] of LARGEST_FIRST) if (whole >= size) return `${Math.floor(whole / size)}${unit}`;
  return `${whole}s`;
}
