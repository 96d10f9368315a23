import type { State } from "./state.ts";

/** Smaller than this nothing can be read, and the screen says so. */
export const SMALLEST = { cols: 40, rows: 10 };
const MOST_RUNS = 6;
/** The whole sentence of the chosen proposal, below the list. */
const PREVIEW = 3;

/** What happened last, or the question that waits. */
export const NOTICE = 2;

/** How many lines each part of the screen has. */
export interface Layout {
  readonly list: number;
  readonly preview: number;
  readonly runs: number;
  /** Of a proposal that is looked at. */
  readonly detail: number;
}

/**
 * The last line of the terminal stays empty: ink takes a picture that is as high as the terminal for one that has to be cleared, with all that the terminal
 * had kept above.
 */
export const pictureRows = ({ rows }: Pick<State, "rows">): number => rows - 1;

export function layoutOf(state: Pick<State, "rows" | "runs">): Layout {
  // A head, a notice and the keys.
  const free = Math.max(0, pictureRows(state) - 2 - NOTICE);
  const runs = Math.min(Math.max(1, state.runs.length), MOST_RUNS, Math.max(1, Math.floor(free / 4)));
  const preview = free >= 14 ? PREVIEW : 0;
  // Two headings, and a rule above the preview.
  return { runs, preview, list: Math.max(1, free - runs - 2 - (preview === 0 ? 0 : preview + 1)), detail: free };
}

/** The first of `count` that is shown, so that the one at `index` is among the `height` on the screen. */
export const scrolledTo = (top: number, index: number, height: number, count: number): number =>
  Math.max(0, Math.min(Math.max(Math.min(top, index), index - height + 1), count - height));
