import { columnsOf, cut } from "./columns.ts";
import type { Shown } from "./shown.ts";

/** What a part of a line is for; how that looks is the screen's. */
export type Tone = "plain" | "quiet" | "strong" | "added" | "removed" | "warning" | "chosen";

export interface Part {
  readonly text: Shown;
  readonly tone: Tone;
}

/** One line of the screen. */
export type Line = readonly Part[];

export const line = (text: Shown, tone: Tone = "plain"): Line => [{ text, tone }];

/** Within so many columns. */
export function fit(parts: Line, columns: number): Line {
  const fitting: Part[] = [];
  let left = columns;
  for (const { text, tone } of parts) {
    if (left <= 0) break;
    fitting.push({ text: cut(text, left), tone });
    left -= columnsOf(text);
  }
  return fitting;
}
