/**
 * Text without what can be put between the characters of a value: only letters and digits count, and their case does not. So spaces, dashes, line breaks,
 * invisible characters, the zero bytes of UTF-16 and quotation marks between two strings of JSON are all the same nothing.
 */
/** Of a byte: 0 for a separator, otherwise 1 to 36. */
export const CLASS_OF = new Uint8Array(256);
for (let digit = 0; digit < 10; digit++) CLASS_OF[0x30 + digit] = 1 + digit;
for (let letter = 0; letter < 26; letter++) CLASS_OF[0x41 + letter] = CLASS_OF[0x61 + letter] = 11 + letter;

/** The character that stands for a class in compact text: a digit or a small letter. */
export const byteOfClass = (one: number): number => (one < 11 ? 0x2f + one : 0x56 + one);

/** Letters that stand for a break after a backslash: `\n`, `\r`, `\t`. */
export const BREAK_LETTER = new Uint8Array(256);
for (const letter of "nrt") BREAK_LETTER[letter.charCodeAt(0)] = 1;

export const BACKSLASH = 0x5c;

export const compactOf = (bytes: Uint8Array): Uint8Array =>
  bytes.map((byte) => CLASS_OF[byte] ?? 0).filter((one) => one !== 0);

/** Separators in a row that still belong to a value. */
const MAX_GAP = 64;

/** The next byte that counts, from `at` on in the direction `step`; -1 when the text ends or the gap is too long. */
export function nextCounting(bytes: Uint8Array, at: number, step: 1 | -1): number {
  let place = at;
  for (let gap = 0; gap <= MAX_GAP && place >= 0 && place < bytes.length; gap++, place += step) {
    const byte = bytes[place] ?? 0;
    if (CLASS_OF[byte] === 0) continue;
    if (BREAK_LETTER[byte] === 1 && place > 0 && bytes[place - 1] === BACKSLASH) continue;
    return place;
  }
  return -1;
}
