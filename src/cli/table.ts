/** Columns as wide as their widest cell, two spaces between, no space at a line's end. Cells are plain text; paint lines afterwards. */
export function formatTable(header: readonly string[], rows: readonly (readonly string[])[]): string[] {
  return alignColumns([header, ...rows]);
}

/** Names on the left, values aligned on the right of them. */
export function formatPairs(pairs: readonly (readonly [name: string, value: string])[]): string[] {
  return alignColumns(pairs);
}

function alignColumns(rows: readonly (readonly string[])[]): string[] {
  const widths: number[] = [];
  for (const row of rows)
    row.forEach((cell, column) => (widths[column] = Math.max(widths[column] ?? 0, widthOf(cell))));
  return rows.map((row) =>
    row
      .map((cell, column) => cell + " ".repeat((widths[column] ?? 0) - widthOf(cell)))
      .join("  ")
      .trimEnd(),
  );
}

const widthOf = (text: string): number => Array.from(text).length;
