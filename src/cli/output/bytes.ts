const UNITS = ["KiB", "MiB", "GiB", "TiB"] as const;

/** `512 B`, `1.5 KiB`, `230 MiB`. */
export function formatBytes(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  let value = bytes / 1024;
  let unit = 0;
  while (value >= 1024 && unit < UNITS.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${value < 10 ? value.toFixed(1) : String(Math.round(value))} ${UNITS[unit] ?? "TiB"}`;
}
