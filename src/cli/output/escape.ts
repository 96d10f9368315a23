import { escapeJson, escapeName, UNSAFE, visible } from "../../base/visible-text.ts";
import { NO_STYLE, openStyle, STYLE_END, styleAfter } from "./text-style.ts";

export { escapeName };

const SGR = String.raw`\u001B\[([0-9;:]{0,64})m`;
/** Colours as this program has them, and no other sequence. */
const OWN_SGR = String.raw`\u001B\[(?:[0-4]|22|3[1-69]|9[1-6])(?:;(?:[1-4]|3[1-6]|9[1-6])){0,3}m`;

const ANYWHERE = new RegExp(UNSAFE, "gu");
const IN_OUTPUT = new RegExp(String.raw`${SGR}|\r\n|${UNSAFE}`, "gu");
const ON_SCREEN = new RegExp(`${OWN_SGR}|${UNSAFE}`, "gu");

const isLayout = (found: string): boolean => found === "\n" || found === "\t";

/** Text of several lines: line ends and tabs stay. */
export const escapeText = (text: string): string =>
  text.replace(ANYWHERE, (found) => (isLayout(found) ? found : visible(found)));

/**
 * As `escapeText`, and colours that can be read on any screen stay: a journal of commands reads about as it did when they ran. Every line ends with
 * the style that it began with.
 */
export function escapeOutput(text: string): string {
  let style = NO_STYLE;
  let open = "";
  let result = "";
  const show = (part: string): void => {
    if (part === "") return;
    const wanted = openStyle(style);
    if (wanted !== open) result += (open === "" ? "" : STYLE_END) + wanted;
    open = wanted;
    result += part;
  };
  // SECURITY: no style outlives its line, so none is left on the terminal or on what this program says itself (G-27)
  const close = (): void => {
    if (open !== "") result += STYLE_END;
    open = "";
  };
  let at = 0;
  for (const match of text.matchAll(IN_OUTPUT)) {
    const [found, codes] = match;
    show(text.slice(at, match.index));
    at = match.index + found.length;
    if (codes !== undefined) style = styleAfter(style, codes);
    else if (found === "\n" || found === "\r\n") {
      close();
      result += "\n";
    } else show(found === "\t" ? found : visible(found));
  }
  show(text.slice(at));
  close();
  return result;
}

/**
 * The last look at what a terminal gets: lines, tabs and this program's own colours pass, whatever made the text.
 * SECURITY: so a place that forgot to escape shows an escape and does no harm (G-27).
 */
export const guardScreen = (text: string): string =>
  text.replace(ON_SCREEN, (found) => (isLayout(found) || found.endsWith("m") ? found : visible(found)));

/** A document whose text drives no terminal either. */
export const formatJson = (document: unknown): string => escapeJson(JSON.stringify(document, null, 2));

/** The same on one line. */
export const formatJsonLine = (document: unknown): string => escapeJson(JSON.stringify(document));
