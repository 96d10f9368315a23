import type { KnownValue } from "./detector.ts";
import type { InjectionPhrase } from "./injection-phrases.ts";
import type { Piece } from "./layer.ts";

/** What was found, in offsets of the original. */
export interface Match {
  /** Index of the rule, or what else was looked for. */
  readonly of: number | KnownValue | InjectionPhrase;
  readonly view: readonly string[];
  /** In order, at least one. */
  readonly pieces: readonly Piece[];
}

/** Whether it is written in another way than as text, in which escapes may be. */
export const isEncodedMatch = (match: Match): boolean => match.view.length > 0;
export const startOf = (match: Match): number => match.pieces[0]?.start ?? 0;
export const endOf = (match: Match): number => match.pieces.at(-1)?.end ?? 0;
