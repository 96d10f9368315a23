/**
 * @typedef {"ms" | "MiB" | "MB/s" | "files/s" | "times" | "none"} Unit
 * @typedef {object} Row
 * @property {string} what
 * @property {Unit} unit
 * @property {number} ours_p50
 * @property {number | null} ours_p99
 * @property {string} peer
 * @property {number | null} peer_p50
 * @property {number | null} ratio
 * @property {string | null} goal
 * @property {boolean | null} holds null where there is no goal
 * @property {string} [note]
 * @property {Record<string, unknown>} [details] for the JSON only
 */

const HEADER = ["what", "ours p50", "ours p99", "peer", "peer p50", "ratio", "goal", "holds"];

/** @param {number | null} value @param {Unit} unit */
function show(value, unit) {
  if (value === null || Number.isNaN(value)) return "-";
  const digits = value >= 100 ? 0 : value >= 10 ? 1 : 2;
  return unit === "times" || unit === "none"
    ? value.toFixed(unit === "none" ? 0 : digits)
    : `${value.toFixed(digits)} ${unit}`;
}

/** A ratio below one reads best as a part. @param {number | null} ratio */
function showRatio(ratio) {
  if (ratio === null || Number.isNaN(ratio)) return "-";
  return ratio < 0.67 ? `1/${(1 / ratio).toFixed(1)}` : ratio.toFixed(2);
}

/** @param {Row} row */
const cells = (row) => [
  row.what,
  show(row.ours_p50, row.unit),
  show(row.ours_p99, row.unit),
  row.peer,
  show(row.peer_p50, row.unit),
  showRatio(row.ratio),
  row.goal ?? "-",
  row.holds === null ? "-" : row.holds ? "yes" : "NO",
];

const NUMERIC = new Set([1, 2, 4, 5]);

/** @param {readonly Row[]} rows */
export function formatTable(rows) {
  const lines = [HEADER, ...rows.map(cells)];
  const widths = HEADER.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  const aligned = lines.map((line) =>
    line
      .map((cell, column) =>
        NUMERIC.has(column) ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0),
      )
      .join("  ")
      .trimEnd(),
  );
  const notes = rows.flatMap((row) => (row.note ? [`${row.what}: ${row.note}`] : []));
  return [
    aligned[0],
    widths.map((width) => "-".repeat(width)).join("  "),
    ...aligned.slice(1),
    ...(notes.length > 0 ? ["", ...notes] : []),
  ].join("\n");
}

/** @param {readonly Row[]} rows */
export function formatVerdict(rows) {
  const missed = rows.filter((row) => row.holds === false);
  const goals = rows.filter((row) => row.holds !== null).length;
  if (missed.length === 0) return `All ${goals} goals hold in this run.`;
  return [
    `${missed.length} of ${goals} goals MISSED in this run:`,
    ...missed.map((row) => `  ${row.what} (goal ${row.goal})`),
  ].join("\n");
}
