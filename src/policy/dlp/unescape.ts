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
const LETTER_U = 0x75;
const LETTER_X = 0x78;

/** Bytes with which something to undo may begin. */
export const MAY_ESCAPE = new Uint8Array(256);
for (const byte of [BACKSLASH, PERCENT, AMPERSAND, 0xd0, 0xd1, 0xef, 0xf0, 0xf3]) MAY_ESCAPE[byte] = 1;

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
/** `<`, `>` and `&`, which encoders of JSON write as escapes and no value of ours has. */
const COMMON = new Set([0x3c, 0x3e, 0x26]);

interface Escape {
  /** Its bytes in the text. */
  readonly length: number;
  readonly code: number;
}

/** A worthwhile escape: not one of those that any text has. */
export function startsEscape(bytes: Uint8Array, at: number): boolean {
  const byte = bytes[at] ?? 0;
  const next = bytes[at + 1] ?? 0;
  if (byte === BACKSLASH && next !== LETTER_U && next !== LETTER_X && !(next >= 0x30 && next <= 0x37)) return false;
  if (byte === AMPERSAND && next !== 0x23) return false;
  const found = escapeAt(bytes, at);
  if (found === undefined) return false;
  if (byte === BACKSLASH && next === LETTER_U) {
    return (found.code < 0x80 && !COMMON.has(found.code)) || lookalikeOf(found.code) !== undefined;
  }
  return true;
}

function escapeAt(bytes: Uint8Array, at: number): Escape | undefined {
  switch (bytes[at]) {
    case PERCENT:
      return (bytes[at + 1] ?? 0) === LETTER_U ? hexCode(bytes, at + 2, 4, 6) : hexCode(bytes, at + 1, 2, 3);
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

function backslashAt(bytes: Uint8Array, at: number): Escape | undefined {
  const next = bytes[at + 1] ?? 0;
  if (next === LETTER_X) return hexCode(bytes, at + 2, 2, 4);
  if (next === LETTER_U) return bytes[at + 2] === 0x7b ? bracedAt(bytes, at + 3) : hexCode(bytes, at + 2, 4, 6);
  if (next >= 0x30 && next <= 0x37) return octalAt(bytes, at + 1);
  const code = SIMPLE[next] ?? 0;
  return code === 0 ? undefined : { length: 2, code };
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
  const match = /^([0-9a-fA-F]{1,6})\}/.exec(ascii(bytes, at, 7));
  return match ? { length: 3 + match[0].length, code: Number.parseInt(match[1] ?? "", 16) } : undefined;
}

function entityAt(bytes: Uint8Array, at: number): Escape | undefined {
  // Most are two in a row, or have a blank after them.
  const next = bytes[at + 1] ?? 0;
  if (next !== 0x23 && !(next >= 0x61 && next <= 0x7a)) return undefined;
  const match = /^&(?:#x([0-9a-f]{1,6})|#([0-9]{1,7})|([a-z]{2,8}));/i.exec(ascii(bytes, at, 12));
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

const ascii = (bytes: Uint8Array, at: number, length: number): string =>
  String.fromCharCode(...bytes.subarray(at, at + length));

/** A letter of another alphabet that is written as UTF-8 and looks like one of ASCII. */
function lookalikeAt(bytes: Uint8Array, at: number): Escape | undefined {
  const first = bytes[at] ?? 0;
  const length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1;
  if (length === 1 || at + length > bytes.length) return undefined;
  let code = first & (0xff >> (length + 1));
  for (let more = 1; more < length; more++) code = (code << 6) | ((bytes[at + more] ?? 0) & 0x3f);
  const plain = lookalikeOf(code);
  return plain === undefined ? undefined : { length, code: plain };
}

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
    if (MAY_ESCAPE[bytes[at] ?? 0] === 1 && startsEscape(bytes, at)) return true;
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
    const found = MAY_ESCAPE[byte] === 1 ? escapeAt(source, at) : undefined;
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
  const code = lookalikeOf(written) ?? written;
  if (code < 0x80 || (kind === PERCENT && code <= 0xff)) return [code];
  return Buffer.from(String.fromCodePoint(code));
}
