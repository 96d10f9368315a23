/**
 * Text that came out of a sandbox must not drive the terminal it is shown on, nor look like something else. Covers C0, DEL, C1, line and paragraph
 * separators, the marks that reorder text, and whatever a terminal draws nothing for, but for the mark that makes an emoji of the sign before it.
 */
// SECURITY: a file name with an escape sequence could retitle, repaint or answer for the user's terminal (G-27)
export const UNSAFE =
  String.raw`(?!(?<=\p{Extended_Pictographic})\uFE0F)` +
  String.raw`[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}\p{Default_Ignorable_Code_Point}\uFFF9-\uFFFB]`;

const ANYWHERE = new RegExp(UNSAFE, "gu");
const NAMED: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/** A character as the escape that one would write for it. */
export function visible(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x100) return NAMED[character] ?? `\\x${code.toString(16).padStart(2, "0")}`;
  return code > 0xffff ? `\\u{${code.toString(16)}}` : `\\u${code.toString(16).padStart(4, "0")}`;
}

/** A name, path or message on one line: every control character is shown as an escape. */
export const escapeName = (text: string): string => text.replace(ANYWHERE, visible);

/** JSON whose text drives no terminal either: what JSON leaves as it is and is unsafe is written as JSON's own escape, which means the same. */
export const escapeJson = (json: string): string =>
  json.replace(ANYWHERE, (found) =>
    found === "\n" ? found : Array.from({ length: found.length }, (_, at) => jsonEscape(found.charCodeAt(at))).join(""),
  );

const jsonEscape = (unit: number): string => `\\u${unit.toString(16).padStart(4, "0")}`;
