import { escapeName } from "../base/visible-text.ts";

declare const safe: unique symbol;
/** Text that drives no terminal: nothing else is put on the screen. */
export type Shown = string & { readonly [safe]: true };

/**
 * A template whose values may come from anybody.
 * SECURITY: the one way to a text for the screen. What an agent wrote shows its control characters, its marks that reorder and what a terminal draws
 * nothing for as escapes (G-129).
 */
export const show = (words: TemplateStringsArray, ...values: readonly (string | number)[]): Shown =>
  escapeName(String.raw({ raw: words }, ...values)) as Shown;

export const NOTHING: Shown = show``;

/** Each line of a text by itself. */
export const showLines = (text: string): Shown[] =>
  text.split(/\r\n|\n/).map((line) => show`${line.replaceAll("\t", "  ")}`);
