import { BACKSLASH, BREAK_LETTER } from "./compact-text.ts";

/**
 * What can be put between the characters of a value and is nothing to whoever reads it: characters that nobody sees, a line break in the middle of something encoded, the zero
 * bytes of UTF-16, the end of a string that goes on in the next one, comments of HTML.
 */

const [TAB, LF, CR, SPACE, QUOTE, DOLLAR, APOSTROPHE, PLUS, EQUALS, LESS] = [
  0x09, 0x0a, 0x0d, 0x20, 0x22, 0x24, 0x27, 0x2b, 0x3d, 0x3c,
] as const;
const [BRACKET, ACCENT, BRACE] = [0x5d, 0x60, 0x7b] as const;

/** Code points of characters that are not seen, from the first to the last of each run. Marks that combine with a letter are seen, and taken for nothing too. */
const INVISIBLE = new Uint8Array(0x10000);
for (const [first, last] of [
  [0xad, 0xad],
  [0x300, 0x36f],
  [0x61c, 0x61c],
  [0x115f, 0x1160],
  [0x17b4, 0x17b5],
  [0x180b, 0x180f],
  [0x200b, 0x200f],
  [0x202a, 0x202e],
  [0x2060, 0x206f],
  [0x20d0, 0x20f0],
  [0x3164, 0x3164],
  [0xfe00, 0xfe0f],
  [0xfeff, 0xfeff],
  [0xffa0, 0xffa0],
  [0xfff9, 0xfffb],
] as const)
  INVISIBLE.fill(1, first, last + 1);

export const isInvisible = (code: number): boolean => INVISIBLE[code] === 1;

/** Of encodings: what a line of them ends and begins with. */
const OF_CODE = new Uint8Array(256);
for (const one of "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/_-=") OF_CODE[one.charCodeAt(0)] = 1;
export const isOfCode = (byte: number | undefined): boolean => OF_CODE[byte ?? 0] === 1;
/** So much of each line has to look so. */
const LINE = 10;
const MAX_INDENT = 16;
/** Between two strings, and in a comment. */
const MAX_TEXT = 64;

/** What may come between two strings, and what begins a character that is not seen. */
const AFTER_QUOTE = new Uint8Array(256);
for (const byte of [SPACE, TAB, LF, CR, PLUS, 0x2e]) AFTER_QUOTE[byte] = 1;
const OF_UNSEEN = new Uint8Array(256);
for (const byte of [0xc2, 0xcc, 0xcd, 0xd8, 0xe1, 0xe2, 0xe3, 0xef]) OF_UNSEEN[byte] = 1;

/** Which bytes may begin a gap, and which may follow them there. Only for the kernel, to pass by most of a text: `gapAt` decides. */
export const GAP_BEGINNINGS: readonly (readonly [begins: readonly number[], follows: (byte: number) => boolean])[] = [
  [[0], (byte) => OF_CODE[byte] === 1],
  [[LF], (byte) => OF_CODE[byte] === 1],
  [[PLUS], (byte) => isQuote(byte) || byte === SPACE || byte === BACKSLASH || byte === LF],
  [[DOLLAR], (byte) => byte === BRACE],
  [[LESS], (byte) => byte === 0x21],
  [[0xc2], (byte) => byte === 0xad],
  [[0xcc, 0xcd], (byte) => byte >= 0x80 && byte < 0xc0],
  [[0xe1], (byte) => byte === 0x85 || byte === 0x9e || byte === 0xa0],
  [[0xe2], (byte) => byte === 0x80 || byte === 0x81 || byte === 0x83],
  [[0xe3], (byte) => byte === 0x85],
];

/**
 * How many bytes are nothing there; 0 where none is.
 *
 * SECURITY: what no reader sees, or what a program drops when it reads, hides no value (G-192)
 */
export function gapAt(bytes: Uint8Array, at: number): number {
  const byte = bytes[at] ?? 0;
  switch (byte) {
    case 0:
      return isWide(bytes, at) ? 1 : 0;
    case LF:
    case CR:
      return wrapAt(bytes, at);
    case BACKSLASH:
      return backslashAt(bytes, at);
    case EQUALS:
      return softBreakAt(bytes, at);
    case QUOTE:
    case APOSTROPHE:
    case ACCENT:
      return AFTER_QUOTE[bytes[at + 1] ?? 0] === 1 ? matchAt(bytes, at, /^(["'`])\s{0,8}[+.]\s{0,8}["'`]/) : 0;
    case DOLLAR:
      return bytes[at + 1] === BRACE ? matchAt(bytes, at, /^\$\{\s{0,4}(?:""|''|``)?\s{0,4}\}/) : 0;
    case LESS:
      return bytes[at + 1] === 0x21 ? matchAt(bytes, at, /^<!(?:--[^>]{0,48}-->|\[CDATA\[)/) : 0;
    case BRACKET:
      return bytes[at + 1] === BRACKET ? matchAt(bytes, at, /^\]\]>(?:<!\[CDATA\[)?/) : 0;
    default:
      return OF_UNSEEN[byte] === 1 ? invisibleAt(bytes, at) : 0;
  }
}

/** Whether a gap that is worth a closer look begins there, or, at the sign between two strings, just before. */
export function startsGap(bytes: Uint8Array, at: number): boolean {
  const byte = bytes[at] ?? 0;
  if (byte === PLUS) return joinsStrings(bytes, at);
  if (byte === DOLLAR) return isEmptyPart(bytes, at);
  if (byte === 0 && !isOfCode(bytes[at + 1])) return false;
  if (byte === LF) return isOfCode(bytes[at + 1]) && wrapAt(bytes, bytes[at - 1] === CR ? at - 1 : at) > 0;
  // The marks of strings and brackets are in every text: only what is between them is a beginning.
  return !isQuote(byte) && byte !== BRACKET && gapAt(bytes, at) > 0;
}

/** `${}` and `${""}`, also where marks have backslashes. */
function isEmptyPart(bytes: Uint8Array, at: number): boolean {
  let end = at + 2;
  while (end - at < 16 && (isSpace(bytes[end]) || isQuote(bytes[end]) || bytes[end] === BACKSLASH)) end++;
  return bytes[end] === 0x7d;
}

const isText = (byte: number | undefined): boolean => byte !== undefined && byte >= TAB && byte < 0x7f;
const isQuote = (byte: number | undefined): boolean => byte === QUOTE || byte === APOSTROPHE || byte === ACCENT;
const isSpace = (byte: number | undefined): boolean => byte === SPACE || byte === TAB || byte === LF || byte === CR;

function matchAt(bytes: Uint8Array, at: number, pattern: RegExp): number {
  return pattern.exec(latin1(bytes, at, MAX_TEXT))?.[0].length ?? 0;
}

/** Some characters: a spread of an array takes much longer. */
export function latin1(bytes: Uint8Array, at: number, length: number): string {
  let text = "";
  for (let more = at; more < Math.min(bytes.length, at + length); more++) text += String.fromCharCode(bytes[more] ?? 0);
  return text;
}

/** `"one" + "two"`, also inside of a string, where its marks have backslashes. */
function joinsStrings(bytes: Uint8Array, at: number): boolean {
  let before = at - 1;
  while (at - before < 8 && isSpace(bytes[before])) before--;
  if (!isQuote(bytes[before])) {
    // The `n` of a break that is written as an escape.
    if (bytes[before - 1] !== BACKSLASH || BREAK_LETTER[bytes[before] ?? 0] !== 1) return false;
    if (!isQuote(bytes[before - 2])) return false;
  }
  let after = at + 1;
  while (after - at < 16 && (isSpace(bytes[after]) || bytes[after] === BACKSLASH || isBreakLetter(bytes, after)))
    after++;
  return isQuote(bytes[after]);
}

const isBreakLetter = (bytes: Uint8Array, at: number): boolean =>
  BREAK_LETTER[bytes[at] ?? 0] === 1 && bytes[at - 1] === BACKSLASH;

/** A zero byte of UTF-16: each second byte is one. */
function isWide(bytes: Uint8Array, at: number): boolean {
  if (!isText(bytes[at - 1]) && !isText(bytes[at + 1])) return false;
  return (
    (bytes[at + 2] === 0 && isText(bytes[at + 1])) ||
    (bytes[at - 2] === 0 && isText(bytes[at - 1]) && (at + 1 >= bytes.length || isText(bytes[at + 1])))
  );
}

/** Behind breaks, also those that are written as escapes, and what the next line is indented by. */
function breakAt(bytes: Uint8Array, from: number): number {
  let at = from;
  for (;;) {
    if (bytes[at] === LF || bytes[at] === CR) at++;
    else if (bytes[at] === BACKSLASH && (bytes[at + 1] === 0x6e || bytes[at + 1] === 0x72)) at += 2;
    else break;
  }
  return at;
}

/** A break in the middle of something encoded: both lines are nothing but its characters there. */
function wrapAt(bytes: Uint8Array, at: number): number {
  if (OF_CODE[bytes[at - 1] ?? 0] !== 1 || OF_CODE[bytes[at - 2] ?? 0] !== 1) return 0;
  let end = breakAt(bytes, at);
  if (end === at) return 0;
  const line = end;
  while (end - line < MAX_INDENT && (bytes[end] === SPACE || bytes[end] === TAB)) end++;
  for (let more = 0; more < LINE; more++)
    if (OF_CODE[bytes[at - 1 - more] ?? 0] !== 1 || OF_CODE[bytes[end + more] ?? 0] !== 1) return 0;
  return end - at;
}

/** A line that goes on in the next one, or a break in the middle of something encoded. */
function backslashAt(bytes: Uint8Array, at: number): number {
  const next = bytes[at + 1];
  if (next === LF || next === CR) return breakAt(bytes, at + 1) - at;
  return next === 0x6e || next === 0x72 ? wrapAt(bytes, at) : 0;
}

/** Of quoted-printable: an equals sign at the end of a line. */
function softBreakAt(bytes: Uint8Array, at: number): number {
  const end = breakAt(bytes, at + 1);
  return end === at + 1 || isSpace(bytes[end]) ? 0 : end - at;
}

function invisibleAt(bytes: Uint8Array, at: number): number {
  const first = bytes[at] ?? 0;
  const length = first >= 0xe0 ? 3 : 2;
  if (at + length > bytes.length) return 0;
  let code = first & (0xff >> (length + 1));
  for (let more = 1; more < length; more++) {
    const byte = bytes[at + more] ?? 0;
    if (byte >> 6 !== 2) return 0;
    code = (code << 6) | (byte & 0x3f);
  }
  // A mark is on a letter; elsewhere it is half of something that is no text.
  if (code >= 0x300 && code < 0x370 && !isText(bytes[at - 1])) return 0;
  return isInvisible(code) ? length : 0;
}
