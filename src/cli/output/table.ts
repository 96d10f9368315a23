import { hangText, widthOf, wrapText } from "./wrap-text.ts";

/** How a result is laid out where it is shown. */
export interface Layout {
  /** In columns; without an end when the output is not a terminal: then a row is a line, however long. */
  readonly width: number;
  readonly bold: (text: string) => string;
}

export const PLAIN: Layout = { width: Infinity, bold: (text) => text };

const GAP = "  ";
/** A column of text narrower than this is harder to read than the same text below its name. */
const NARROWEST_TEXT = 24;

/**
 * Columns as wide as their widest cell, no space at a line's end. Cells are plain text. When a row does not fit, its last cell is wrapped; when not
 * even that fits, each row becomes lines of names and values.
 */
export function formatTable(
  header: readonly string[],
  rows: readonly (readonly string[])[],
  { width, bold }: Layout = PLAIN,
): string[] {
  const widths = header.map((_, column) => Math.max(...[header, ...rows].map((row) => widthOf(row[column] ?? ""))));
  const indent = widths.slice(0, -1).reduce((sum, one) => sum + one + GAP.length, 0);
  const fits = indent + Math.min(widths.at(-1) ?? 0, NARROWEST_TEXT) <= width;
  if (!fits) return toRecords(header, rows, width);
  const format = (row: readonly string[]): string[] => {
    const before = row.slice(0, -1).map((cell, column) => pad(cell, widths[column] ?? 0) + GAP);
    return hangText(before.join(""), indent, row.at(-1) ?? "", width);
  };
  return [...format(header).map(bold), ...rows.flatMap(format)];
}

const toRecords = (header: readonly string[], rows: readonly (readonly string[])[], width: number): string[] =>
  rows.flatMap((row, index) => [
    ...(index === 0 ? [] : [""]),
    ...formatPairs(
      row.map((cell, column) => [(header[column] ?? "").trim(), cell] as const),
      width,
    ),
  ]);

/** Names on the left, values aligned on the right of them and wrapped there; below them where that would be too narrow. */
export function formatPairs(
  pairs: readonly (readonly [name: string, value: string])[],
  width: number = PLAIN.width,
): string[] {
  const names = Math.max(0, ...pairs.map(([name]) => widthOf(name)));
  const indent = names + GAP.length;
  if (indent + NARROWEST_TEXT > width && pairs.some(([, value]) => indent + widthOf(value) > width)) {
    return pairs.flatMap(([name, value]) => [
      name.trimEnd(),
      ...(value === "" ? [] : wrapText(value, width - BELOW.length).map((line) => BELOW + line)),
    ]);
  }
  return pairs.flatMap(([name, value]) => hangText(pad(name, names) + GAP, indent, value, width));
}

const BELOW = "      ";

const pad = (text: string, width: number): string => text + " ".repeat(width - widthOf(text));
