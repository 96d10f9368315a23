import { Layer } from "./layer.ts";
import type { DecodedView, EncodedNeedle } from "./raw-needles.ts";

/** Of base64, both alphabets. */
const BASE64 = new Int8Array(256).fill(-1);
const BASE32 = new Int8Array(256).fill(-1);
const HEX = new Int8Array(256).fill(-1);
function fill(table: Int8Array, alphabet: string): void {
  for (const [value, character] of Array.from(alphabet).entries()) table[character.charCodeAt(0)] = value;
}
fill(BASE64, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/");
BASE64[0x2d] = 62;
BASE64[0x5f] = 63;
fill(BASE32, "abcdefghijklmnopqrstuvwxyz234567");
fill(BASE32, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567");
fill(HEX, "0123456789ABCDEF");
fill(HEX, "0123456789abcdef");

/** Bits of a character, and characters of a group that is whole bytes. */
const ALPHABETS = {
  base64: { table: BASE64, bits: 6, group: 4 },
  base32: { table: BASE32, bits: 5, group: 8 },
  hex: { table: HEX, bits: 4, group: 2 },
} as const;

/** How far around a keyword is decoded, in characters. */
const BACK = 256;
const AHEAD = 2048;
const AHEAD_REVERSED = 512;

/** Characters of a group before those of a byte that has `before` bytes before it. */
export function leadOf(encoding: DecodedView, before: number): number {
  return encoding === "reversed" ? 0 : Math.ceil((8 * before) / ALPHABETS[encoding].bits);
}

/** Whether the characters around a needle say what they should. A needle may be short; this is exact, and cheap enough for every chance hit. */
export function isEncoded(bytes: Uint8Array, at: number, { encoding, before, inner }: EncodedNeedle): boolean {
  if (encoding === "reversed") return true;
  const { table, bits } = ALPHABETS[encoding];
  const first = at - leadOf(encoding, before);
  for (let index = 0; index < inner.length; index++) {
    const bit = 8 * (before + index);
    const from = Math.floor(bit / bits);
    const to = Math.floor((bit + 7) / bits);
    let value = 0;
    for (let place = from; place <= to; place++) {
      const character = bytes[first + place];
      const digit = character === undefined ? -1 : (table[character] ?? -1);
      // What a line break is in the middle of is left to the decoder.
      if (digit < 0) return first + place < at || character === undefined || character <= 0x20 || character === 0x5c;
      value = (value << bits) | digit;
    }
    const rest = bits * (to + 1) - (bit + 8);
    if (((value >> rest) & 0xff) !== inner[index]) return false;
  }
  return true;
}

/**
 * What stands around `at` in some encoding, decoded. `before` bytes of a group are before `at`. Line breaks in between are passed over, as real decoders do; anything
 * else ends it. Answers also where groups begin, so that nobody decodes the same again.
 *
 * `betweenBlanks`: what comes before a blank and after the next one is left out. In `the token bnBtXz… and` these are other words, though their letters are those of an encoding, and
 * a token wants a border on either side.
 */
export function decodeAround(
  parent: Layer,
  encoding: DecodedView,
  at: number,
  before: number,
  betweenBlanks = false,
): Decoded {
  if (encoding === "reversed") return reverseAround(parent, at);
  const { table, bits, group } = ALPHABETS[encoding];
  const lead = leadOf(encoding, before);
  const earlier = placesBefore(parent.bytes, table, at, lead, group, betweenBlanks);
  const places = [...earlier, ...placesAfter(parent.bytes, table, at, betweenBlanks)];
  const size = Math.floor((places.length * bits) / 8);
  const bytes = new Uint8Array(size);
  const starts = new Int32Array(size);
  const ends = new Int32Array(size);
  const groups: number[] = [];
  let value = 0;
  let held = 0;
  let length = 0;
  for (let index = 0; index < places.length; index++) {
    const place = places[index] ?? -1;
    if (index % group === 0) groups.push(place);
    // A group that begins before the run has nothing there: zero bits do.
    value = ((value << bits) | (place < 0 ? 0 : (table[parent.bytes[place] ?? 0] ?? 0))) & 0xffff;
    held += bits;
    if (held < 8) continue;
    held -= 8;
    bytes[length] = (value >> held) & 0xff;
    starts[length] = Math.max(0, places[index - (bits === 5 ? 2 : 1)] ?? place);
    ends[length++] = place + 1;
  }
  const layer = new Layer(bytes, [...parent.view, encoding], { parent, starts, ends });
  const last = (places.at(-1) ?? at) + 1;
  const hasBlank = parent.bytes.subarray(Math.max(0, earlier[0] ?? at), last).some(isBlank);
  return { layer, groups, hasBlank };
}

export interface Decoded {
  readonly layer: Layer;
  readonly groups: readonly number[];
  /** A blank stands in it. */
  readonly hasBlank: boolean;
}

/** Whole groups before `at`, the nearest of which has its last `lead` characters there. */
function placesBefore(
  bytes: Uint8Array,
  table: Int8Array,
  at: number,
  lead: number,
  group: number,
  betweenBlanks: boolean,
): number[] {
  const places: number[] = [];
  let place = at;
  while (places.length < BACK + lead) {
    if (betweenBlanks && places.length >= lead && isBlank(bytes[place - 1])) break;
    place = skipBreaks(bytes, place - 1, -1);
    if (place < 0 || (table[bytes[place] ?? 0] ?? -1) < 0) break;
    places.push(place);
  }
  if (places.length < lead) places.push(...Array.from({ length: lead - places.length }, () => -1));
  places.length -= (places.length - lead) % group;
  return places.reverse();
}

function placesAfter(bytes: Uint8Array, table: Int8Array, at: number, betweenBlanks: boolean): number[] {
  const places: number[] = [];
  for (let place = at; places.length < AHEAD; place++) {
    if (betweenBlanks && isBlank(bytes[place])) break;
    place = skipBreaks(bytes, place, 1);
    if (place < 0 || (table[bytes[place] ?? 0] ?? -1) < 0) break;
    places.push(place);
  }
  return places;
}

/** Past line breaks and blanks, also those that are written as escapes; -1 at the end. */
function skipBreaks(bytes: Uint8Array, from: number, step: 1 | -1): number {
  let at = from;
  while (at >= 0 && at < bytes.length) {
    const byte = bytes[at] ?? 0;
    if (byte === 0x0a || byte === 0x0d || byte === 0x20 || byte === 0x09) at += step;
    else if (step === 1 && byte === 0x5c && isBreakLetter(bytes[at + 1])) at += 2;
    else if (step === -1 && isBreakLetter(byte) && bytes[at - 1] === 0x5c) at -= 2;
    else return at;
  }
  return -1;
}

const isBlank = (byte: number | undefined): boolean => byte === 0x20 || byte === 0x09;

const isBreakLetter = (byte: number | undefined): boolean => byte === 0x6e || byte === 0x72;

function reverseAround(parent: Layer, at: number): Decoded {
  const from = Math.max(0, at - AHEAD_REVERSED);
  const to = Math.min(parent.bytes.length, at + BACK);
  // `slice` of a Buffer is no copy.
  const bytes = parent.bytes.subarray(from, to).toReversed();
  const starts = new Int32Array(bytes.length);
  const ends = new Int32Array(bytes.length);
  const groups: number[] = [];
  for (let index = 0; index < bytes.length; index++) {
    starts[index] = to - 1 - index;
    ends[index] = to - index;
    groups.push(to - 1 - index);
  }
  return { layer: new Layer(bytes, [...parent.view, "reversed"], { parent, starts, ends }), groups, hasBlank: false };
}
