import { CLASS_OF } from "./compact-text.ts";
import { gapAt, isInvisible, isOfCode, latin1, startsGap } from "./gaps.ts";
import { Layer } from "./layer.ts";
import { lookalikeOf } from "./lookalikes.ts";

/**
 * Text whose characters are written as escapes: of URLs, of JSON and other languages' strings, of HTML, and letters that only look like ASCII ones. Any mix of them, and
 * escapes of escapes.
 */
const HEX = new Int8Array(256).fill(-1);
for (const [value, digits] of Array.from("0123456789abcdef", (low) => [low, low.toUpperCase()]).entries()) {
  for (const digit of digits) HEX[digit.charCodeAt(0)] = value;
}

const BACKSLASH = 0x5c;
const PERCENT = 0x25;
const AMPERSAND = 0x26;
const EQUALS = 0x3d;
const LETTER_U = 0x75;
const LETTER_X = 0x78;

/** Bytes with which something to undo may begin. */
const MAY_ESCAPE = new Uint8Array(256);
for (const byte of [BACKSLASH, PERCENT, AMPERSAND, EQUALS, 0xce, 0xd0, 0xd1, 0xef, 0xf0, 0xf3]) MAY_ESCAPE[byte] = 1;
/** And those with which nothing may begin that stands between characters. */
const MAY_UNDO = Uint8Array.from(MAY_ESCAPE);
for (const byte of [0, 0x0a, 0x0d, 0x22, 0x24, 0x27, 0x2b, 0x3c, 0x5d, 0x60, 0xc2, 0xcc, 0xcd, 0xe1, 0xe2, 0xe3])
  MAY_UNDO[byte] = 1;

const SIMPLE = new Uint8Array(256);
for (const [letter, code] of Object.entries({ n: 10, r: 13, t: 9, b: 8, f: 12, "/": 47, '"': 34, "'": 39, "\\": 92 })) {
  SIMPLE[letter.charCodeAt(0)] = code;
}
const ENTITIES: Readonly<Record<string, number>> = {
  amp: 38,
  lt: 60,
  gt: 62,
  quot: 34,
  apos: 39,
  lowbar: 95,
  hyphen: 45,
  dash: 45,
  plus: 43,
  sol: 47,
  equals: 61,
  period: 46,
  nbsp: 32,
};
/** Named characters that nobody sees. */
const UNSEEN = /^&(?:shy|zwn?j|ZeroWidthSpace|NoBreak);/;
/** `<`, `>` and `&`, which encoders of JSON write as escapes and no value of ours has. */
const COMMON = new Set([0x3c, 0x3e, 0x26]);

interface Escape {
  /** Its bytes in the text. */
  readonly length: number;
  /** `NOTHING` for what only stands between. */
  readonly code: number;
}

const NOTHING = -1;

/** A worthwhile escape: not one of those that any text has. */
export function startsEscape(bytes: Uint8Array, at: number): boolean {
  const byte = bytes[at] ?? 0;
  const next = bytes[at + 1] ?? 0;
  if (byte === BACKSLASH && next !== LETTER_U && next !== LETTER_X && !(next >= 0x30 && next <= 0x37))
    return startsGap(bytes, at);
  if (MAY_ESCAPE[byte] !== 1) return startsGap(bytes, at);
  if (byte === AMPERSAND && next !== 0x23) return UNSEEN.test(latin1(bytes, at, 16));
  const found = escapeAt(bytes, at);
  if (found === undefined) return false;
  if (byte === BACKSLASH && next === LETTER_U) {
    const { code } = found;
    return code === NOTHING || (code < 0x80 && !COMMON.has(code)) || lookalikeOf(code) !== undefined;
  }
  return byte < 0x80 || found.code === NOTHING || isWorthwhile(bytes, at, found);
}

/** So many letters of other alphabets in a row that all look like ASCII ones: words of these alphabets have fewer. */
const MIN_LOOKALIKES = 8;

/** Text of other alphabets has such letters too: there one stands beside a letter of ASCII, or among many of its kind. And signs of full width are in every Chinese sentence. */
function isWorthwhile(bytes: Uint8Array, at: number, { length, code }: Escape): boolean {
  if (length > 2) return CLASS_OF[code] !== 0;
  if (isOfCode(bytes[at - 1]) || isOfCode(bytes[at + length])) return true;
  let next = at + length;
  for (let count = 1; count < MIN_LOOKALIKES; count++) {
    const found = lookalikeAt(bytes, next);
    if (found === undefined) return false;
    next += found.length;
  }
  return true;
}

/** What stands there, or nothing that stands between. */
function escapeAt(bytes: Uint8Array, at: number): Escape | undefined {
  const gap = gapAt(bytes, at);
  if (gap !== 0) return { length: gap, code: NOTHING };
  const found = MAY_ESCAPE[bytes[at] ?? 0] === 1 ? characterAt(bytes, at) : undefined;
  if (found === undefined || found.code < 0x80 || bytes[at] === PERCENT || !isInvisible(found.code)) return found;
  return { length: found.length, code: NOTHING };
}

function characterAt(bytes: Uint8Array, at: number): Escape | undefined {
  switch (bytes[at]) {
    case PERCENT:
      return (bytes[at + 1] ?? 0) === LETTER_U ? hexCode(bytes, at + 2, 4, 6) : percentAt(bytes, at);
    case EQUALS:
      return quotedAt(bytes, at);
    case BACKSLASH:
      return backslashAt(bytes, at);
    case AMPERSAND:
      return entityAt(bytes, at);
    default:
      return lookalikeAt(bytes, at);
  }
}

function hexCode(bytes: Uint8Array, from: number, digits: number, length: number): Escape | undefined {
  let code = 0;
  for (let at = from; at < from + digits; at++) {
    const digit = HEX[bytes[at] ?? 0] ?? -1;
    if (digit < 0) return undefined;
    code = code * 16 + digit;
  }
  return { length, code };
}

/** `%41`, and `%c1%81`: a character that is longer than it may be. */
function percentAt(bytes: Uint8Array, at: number): Escape | undefined {
  const first = hexCode(bytes, at + 1, 2, 3);
  if (first?.code !== 0xc0 && first?.code !== 0xc1) return first;
  const second = bytes[at + 3] === PERCENT ? hexCode(bytes, at + 4, 2, 6) : undefined;
  return second !== undefined && second.code >> 6 === 2
    ? { length: 6, code: ((first.code & 1) << 6) | (second.code & 63) }
    : first;
}

/** `=41=4B` of quoted-printable: one alone is more often a value behind its name. */
function quotedAt(bytes: Uint8Array, at: number): Escape | undefined {
  const isOne = bytes[at + 3] === EQUALS || bytes[at - 3] === EQUALS;
  return isOne ? hexCode(bytes, at + 1, 2, 3) : undefined;
}

function backslashAt(bytes: Uint8Array, at: number): Escape | undefined {
  const next = bytes[at + 1] ?? 0;
  if (next === LETTER_X) return hexCode(bytes, at + 2, 2, 4);
  if (next === LETTER_U) return bytes[at + 2] === 0x7b ? bracedAt(bytes, at + 3) : unicodeAt(bytes, at);
  if (next >= 0x30 && next <= 0x37) return octalAt(bytes, at + 1);
  const code = SIMPLE[next] ?? 0;
  return code === 0 ? undefined : { length: 2, code };
}

/** `\u0041`, and two halves of one character. */
function unicodeAt(bytes: Uint8Array, at: number): Escape | undefined {
  const first = hexCode(bytes, at + 2, 4, 6);
  if (first === undefined || first.code >> 10 !== 0x36) return first;
  const isNext = bytes[at + 6] === BACKSLASH && bytes[at + 7] === LETTER_U;
  const second = isNext ? hexCode(bytes, at + 8, 4, 12) : undefined;
  if (second === undefined || second.code >> 10 !== 0x37) return first;
  return { length: 12, code: 0x10000 + ((first.code & 0x3ff) << 10) + (second.code & 0x3ff) };
}

/** `\101`, `\60` */
function octalAt(bytes: Uint8Array, at: number): Escape | undefined {
  let code = 0;
  let digits = 0;
  for (; digits < 3; digits++) {
    const digit = (bytes[at + digits] ?? 0) - 0x30;
    if (digit < 0 || digit > 7) break;
    code = code * 8 + digit;
  }
  return digits < 2 || code > 0xff ? undefined : { length: 1 + digits, code };
}

/** `\u{41}` */
function bracedAt(bytes: Uint8Array, at: number): Escape | undefined {
  const match = /^([0-9a-fA-F]{1,6})\}/.exec(latin1(bytes, at, 7));
  return match ? { length: 3 + match[0].length, code: Number.parseInt(match[1] ?? "", 16) } : undefined;
}

function entityAt(bytes: Uint8Array, at: number): Escape | undefined {
  // Most are two in a row, or have a blank after them.
  const next = bytes[at + 1] ?? 0;
  const unseen = /[sNzZ]/.test(String.fromCharCode(next)) ? UNSEEN.exec(latin1(bytes, at, 16)) : null;
  if (unseen) return { length: unseen[0].length, code: NOTHING };
  if (next !== 0x23 && !(next >= 0x61 && next <= 0x7a)) return undefined;
  const match = /^&(?:#x([0-9a-f]{1,6})|#([0-9]{1,7})|([a-z]{2,8}));/i.exec(latin1(bytes, at, 12));
  if (!match) return undefined;
  const [whole, hexadecimal, decimal, name = ""] = match;
  const code =
    hexadecimal !== undefined
      ? Number.parseInt(hexadecimal, 16)
      : decimal !== undefined
        ? Number.parseInt(decimal, 10)
        : ENTITIES[name];
  return code === undefined || code > 0x10ffff ? undefined : { length: whole.length, code };
}

/** A letter of another alphabet that is written as UTF-8 and looks like one of ASCII. */
function lookalikeAt(bytes: Uint8Array, at: number): Escape | undefined {
  const first = bytes[at] ?? 0;
  const length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1;
  if (length === 1 || at + length > bytes.length) return undefined;
  let code = first & (0xff >> (length + 1));
  for (let more = 1; more < length; more++) {
    const byte = bytes[at + more] ?? 0;
    if (byte >> 6 !== 2) return undefined;
    code = (code << 6) | (byte & 0x3f);
  }
  const plain = lookalikeOf(code);
  return plain === undefined ? undefined : { length, code: plain };
}

const NONE: readonly number[] = [];
/** How deep escapes of escapes are undone. */
const MAX_ROUNDS = 5;

/** The text from `from` to `to` with its escapes undone. */
export function unescapeLayer(parent: Layer, from: number, to: number): Layer {
  let layer = unescapeOnce(parent, from, to, [...parent.view, "escaped"]);
  for (let round = 1; round < MAX_ROUNDS && hasEscape(layer.bytes); round++) {
    layer = unescapeOnce(layer, 0, layer.bytes.length, layer.view);
  }
  return layer;
}

function hasEscape(bytes: Uint8Array): boolean {
  for (let at = 0; at < bytes.length; at++) {
    if (MAY_UNDO[bytes[at] ?? 0] === 1 && startsEscape(bytes, at)) return true;
  }
  return false;
}

function unescapeOnce(parent: Layer, from: number, to: number, view: readonly string[]): Layer {
  const source = parent.bytes;
  // No escape becomes more bytes than it has.
  const bytes = new Uint8Array(to - from);
  const starts = new Int32Array(to - from);
  const ends = new Int32Array(to - from);
  let length = 0;
  for (let at = from; at < to;) {
    const byte = source[at] ?? 0;
    const found = MAY_UNDO[byte] === 1 ? escapeAt(source, at) : undefined;
    const end = at + (found?.length ?? 1);
    if (found === undefined || end > to) {
      bytes[length] = byte;
      starts[length] = at;
      ends[length++] = ++at;
      continue;
    }
    for (const one of bytesOf(found.code, byte)) {
      bytes[length] = one;
      starts[length] = at;
      ends[length++] = end;
    }
    at = end;
  }
  return new Layer(bytes.subarray(0, length), view, { parent, starts, ends });
}

/** What an escape stands for. A percent sign writes a byte, the others a character. */
function bytesOf(written: number, kind: number): Iterable<number> {
  if (written === NOTHING) return NONE;
  const code = lookalikeOf(written) ?? written;
  if (code < 0x80 || (kind === PERCENT && code <= 0xff)) return [code];
  return Buffer.from(String.fromCodePoint(code));
}
