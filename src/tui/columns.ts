import stringWidth from "string-width";
import type { Shown } from "./shown.ts";

// A part of a text that is safe, or such a text with spaces and dots of our own, is safe too.
const asShown = (text: string): Shown => text as Shown;
/** Signs of one column each: ASCII, and those that cloche itself writes. Nearly each row ends in one, and to measure any other text takes a hundred times as long. */
const NARROW = /^[ -~…─│▸·—]*$/;
const GRAPHEMES = new Intl.Segmenter("en", { granularity: "grapheme" });

/** How many columns a text takes on a terminal. */
export const columnsOf = (text: string): number => (NARROW.test(text) ? text.length : stringWidth(text));

/** A text in pieces of at most so many columns; a sign that is wider is a piece of its own. */
function* pieces(text: string, columns: number): Generator<string, void> {
  if (NARROW.test(text)) {
    for (let at = 0; at < text.length; at += columns) yield text.slice(at, at + columns);
    return;
  }
  let piece = "";
  let taken = 0;
  for (const { segment } of GRAPHEMES.segment(text)) {
    const width = columnsOf(segment);
    if (taken + width > columns && piece !== "") {
      yield piece;
      piece = "";
      taken = 0;
    }
    piece += segment;
    taken += width;
  }
  if (piece !== "") yield piece;
}

/** One that is too long ends in an ellipsis. */
export function cut(text: Shown, columns: number): Shown {
  if (columnsOf(text) <= columns) return text;
  if (columns < 2) return asShown(columns < 1 ? "" : "…");
  const [first = ""] = pieces(text, columns - 1);
  return asShown(`${columnsOf(first) < columns ? first : ""}…`);
}

/** Exactly so many columns. */
export function fill(text: Shown, columns: number): Shown {
  const fitting = cut(text, columns);
  return asShown(fitting + " ".repeat(Math.max(0, columns - columnsOf(fitting))));
}

/** Lines of at most so many columns, broken between words, and in a word that is longer than a line. */
export function wrap(text: Shown, columns: number): Shown[] {
  const width = Math.max(1, columns);
  const lines: string[] = [];
  let line: string | undefined;
  for (const word of text.split(" ")) {
    const joined = line === undefined ? word : `${line} ${word}`;
    if (columnsOf(joined) <= width) {
      line = joined;
      continue;
    }
    if (line !== undefined && line.trim() !== "") lines.push(line);
    const parts = [...pieces(word, width)];
    line = parts.pop();
    lines.push(...parts);
  }
  return [...lines, line ?? ""].map(asShown);
}
