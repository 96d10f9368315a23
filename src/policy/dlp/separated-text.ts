import { BREAK_LETTER, BACKSLASH, CLASS_OF } from "./compact-text.ts";
import { Layer } from "./layer.ts";

/** How much of a separated text is read, in bytes. */
const LENGTH = 384;
/** The longest part between two separators that is taken for one of many. */
const MAX_PART = 16;

/**
 * What a text says when something was put between its characters. Words of a sentence must not grow together into a token, so only two kinds are read: characters that no
 * reader sees (and line breaks), and one separator after every so many characters.
 */
export function separatedTexts(parent: Layer, start: number): Layer[] {
  return [withoutInvisible(parent, start), withoutRegular(parent, start), withoutSingle(parent, start)].filter(
    (one) => one !== undefined,
  );
}

function layerOf(parent: Layer, places: readonly number[]): Layer {
  const bytes = new Uint8Array(places.length);
  const starts = new Int32Array(places.length);
  const ends = new Int32Array(places.length);
  for (let index = 0; index < places.length; index++) {
    const place = places[index] ?? 0;
    bytes[index] = parent.bytes[place] ?? 0;
    starts[index] = place;
    ends[index] = place + 1;
  }
  return new Layer(bytes, [...parent.view, "separated"], { parent, starts, ends });
}

function withoutInvisible(parent: Layer, start: number): Layer {
  const { bytes } = parent;
  const places: number[] = [];
  for (let at = start; at < Math.min(bytes.length, start + LENGTH); at++) {
    const byte = bytes[at] ?? 0;
    if (byte === BACKSLASH && BREAK_LETTER[bytes[at + 1] ?? 0] === 1) at++;
    else if (byte > 0x20 && byte < 0x7f) places.push(at);
    else if (byte === 0x20) break;
  }
  return layerOf(parent, places);
}

/** `A-K-I-A…`, `AKIA IOSF ODNN…`: the first gap says how long the parts are and what is between them. */
function withoutRegular(parent: Layer, start: number): Layer | undefined {
  const { bytes } = parent;
  let part = 0;
  while (CLASS_OF[bytes[start + part] ?? 0] !== 0 && part < LENGTH) part++;
  let gap = 0;
  while (CLASS_OF[bytes[start + part + gap] ?? 0] === 0 && gap < 32 && start + part + gap < bytes.length) gap++;
  if (part === 0 || gap === 0) return undefined;
  return withoutEvery(parent, start, part, gap);
}

/** The same where the first part has characters of its own that look like separators: `ghp_-kJ8s-Qp2v`. */
function withoutSingle(parent: Layer, start: number): Layer | undefined {
  const { bytes } = parent;
  for (let part = 1; part <= MAX_PART; part++) {
    const separator = bytes[start + part];
    if (separator === undefined || CLASS_OF[separator] !== 0) continue;
    const isRegular = [2, 3].every((more) => bytes[start + more * (part + 1) - 1] === separator);
    if (isRegular) return withoutEvery(parent, start, part, 1);
  }
  return undefined;
}

/** How many characters are read before the first one that was noticed, and from it on. */
const BEFORE = 600;
const BEHIND = 1900;

/** A text without what is between its characters, and where a word behind it may be in a longer one. */
interface RegularText {
  readonly layer: Layer;
  readonly end: number;
}

/** All around some of its characters, where the same is between each and the next one: `n-p-m-_-A`. Undefined where it is not. */
export function regularText(
  parent: Layer,
  [first = 0, second = 0, third = 0]: readonly number[],
): RegularText | undefined {
  const { bytes } = parent;
  const step = second - first;
  if (step < 2 || third - second !== step) return undefined;
  const isBetween = (at: number): boolean => {
    for (let more = 1; more < step; more++) if (bytes[at + more] !== bytes[first + more]) return false;
    return true;
  };
  if (!isBetween(second)) return undefined;
  let start = first;
  while (start - step >= 0 && first - start < BEFORE * step && isBetween(start - step)) start -= step;
  const places: number[] = [];
  for (let at = start; at < bytes.length && places.length < BEFORE + BEHIND; at += step) {
    places.push(at);
    if (!isBetween(at)) break;
  }
  const isWhole = places.length < BEFORE + BEHIND;
  const end = (places.at(isWhole ? -1 : -BEFORE) ?? first) + 1;
  return { layer: layerOf(parent, places), end };
}

/** Without the `gap` bytes after each `part` bytes, as long as these are the same. */
function withoutEvery(parent: Layer, start: number, part: number, gap: number): Layer {
  const { bytes } = parent;
  const separator = bytes.subarray(start + part, start + part + gap);
  const places: number[] = [];
  for (let at = start; at < Math.min(bytes.length, start + 4 * LENGTH); at += part + gap) {
    for (let more = 0; more < part && at + more < bytes.length; more++) places.push(at + more);
    if (!separator.every((byte, index) => bytes[at + part + index] === byte)) break;
  }
  return layerOf(parent, places);
}
