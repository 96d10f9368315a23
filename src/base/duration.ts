const UNITS: Readonly<Record<string, number>> = { "": 1, s: 1, m: 60, h: 3600, d: 86_400 };

/** `90`, `90s`, `1.5m`, `2h` or `1d` as seconds; undefined for anything else, and for nothing or less. */
export function parseDuration(text: string): number | undefined {
  const [, amount = "", unit = ""] = /^(\d+(?:\.\d+)?)([smhd]?)$/.exec(text) ?? [];
  const seconds = Number(amount) * (UNITS[unit] ?? 1);
  return Number.isFinite(seconds) && seconds > 0 ? seconds : undefined;
}
