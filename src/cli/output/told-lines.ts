import type { OutputStream } from "../io.ts";
import { terminalSize } from "../terminal/terminal-size.ts";
import { hangText } from "./wrap-text.ts";

/** Takes the place of a space that no line may end at. */
const JOINT = "\u0000";

/**
 * A text after its label, such as `hint:`. On a terminal it is broken between words and set in under its first line; a command in backquotes stays
 * whole, so that it can be copied. Elsewhere it is one line, for programs that read it.
 */
export function toldLines(label: string, shown: string, text: string, stream: OutputStream): string[] {
  return broken(`${shown} `, label.length + 1, text, stream);
}

/** The same without a label. */
export const proseLines = (text: string, stream: OutputStream): string[] => broken("", 0, text, stream);

function broken(beginning: string, indent: number, text: string, stream: OutputStream): string[] {
  if (stream.isTTY !== true) return [`${beginning}${text}`];
  const whole = text.replace(/`[^`]*`/g, (command) => command.replaceAll(" ", JOINT));
  const lines = hangText(beginning, indent, whole, terminalSize(stream).cols);
  return lines.map((line) => line.replaceAll(JOINT, " "));
}
