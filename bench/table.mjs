/**
 * @typedef {"ms" | "MiB" | "kB" | "MB/s" | "files/s" | "sockets" | "%" | "files"} Unit
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

/** Fixed, because a row is printed before the next one is known; a longer cell pushes its own line only. */
const COLUMNS = /** @type {const} */ ([
  { title: "what", width: 68 },
  { title: "ours p50", width: 12, numeric: true },
  { title: "ours p99", width: 12, numeric: true },
  { title: "peer", width: 18 },
  { title: "peer p50", width: 12, numeric: true },
  { title: "ratio", width: 6, numeric: true },
  { title: "goal", width: 28 },
  { title: "holds", width: 5 },
]);

/** @param {number | null} value @param {Unit} unit */
function show(value, unit) {
  if (value === null || Number.isNaN(value)) return "-";
  const digits = value >= 100 ? 0 : value >= 10 ? 1 : 2;
  return `${value.toFixed(digits)} ${unit}`;
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

/** @param {readonly string[]} texts */
const line = (texts) =>
  COLUMNS.map((column, index) => {
    const text = texts[index] ?? "";
    return "numeric" in column ? text.padStart(column.width) : text.padEnd(column.width);
  })
    .join("  ")
    .trimEnd();

export const formatHeader = () =>
  `${line(COLUMNS.map(({ title }) => title))}\n${COLUMNS.map(({ width }) => "-".repeat(width)).join("  ")}`;

/** @param {Row} row */
export const formatRow = (row) => line(cells(row));

/** @param {readonly Row[]} rows */
export const formatNotes = (rows) => rows.flatMap((row) => (row.note ? [`${row.what}: ${row.note}`] : [])).join("\n");

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
