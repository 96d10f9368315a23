/**
 * Text that came out of a sandbox must not drive the terminal it is shown on. Covers C0, DEL, C1, line and paragraph separators, and the marks
 * that reorder text.
 */
// SECURITY: a file name with an escape sequence could retitle, repaint or answer for the user's terminal (G-09)
const UNSAFE = /[\p{Cc}\u061C\u200E\u200F\u2028-\u202E\u2066-\u2069]/gu;
const COLOUR_OR_UNSAFE = new RegExp(`\\u001B\\[[0-9;]{0,32}m|${UNSAFE.source}`, "gu");

const NAMED: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

function visible(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return (
    NAMED[character] ??
    (code < 0x100 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u${code.toString(16).padStart(4, "0")}`)
  );
}

/** A name, path or message on one line: every control character is shown as an escape. */
export const escapeName = (text: string): string => text.replace(UNSAFE, visible);

/** Text of several lines: line ends and tabs stay. */
export const escapeText = (text: string): string =>
  text.replace(UNSAFE, (found) => (found === "\n" || found === "\t" ? found : visible(found)));

/** As `escapeText`, and colours stay too: a journal of commands reads as it did when they ran. */
export const escapeOutput = (text: string): string =>
  text
    .replaceAll("\r\n", "\n")
    .replace(COLOUR_OR_UNSAFE, (found) =>
      found.length > 1 || found === "\n" || found === "\t" ? found : visible(found),
    );
