import { Layer, type Origin } from "./layer.ts";
import { WHOLE_BYTES } from "./limits.ts";

const VIEW: readonly string[] = ["joined"];
/** More values than this are no value that was cut up. */
const MAX_VALUES = 4096;
/** The line between two parts, as RFC 2046 has it, and something more. */
const MAX_BOUNDARY = 200;
/** For small bodies, one after the other: what is read into it is of no use to anybody afterwards. */
const BYTES = new Uint8Array(WHOLE_BYTES);

/**
 * What a small body says when its values are read one after the other: the strings of a JSON document without their names, the values of a form, or its parts. It finds what was
 * cut into several of them. What it gives is good until it is called again.
 */
export function joinedValues(body: Layer): Joined | undefined {
  const bytes = Buffer.from(body.bytes.buffer, body.bytes.byteOffset, body.bytes.length);
  const first = bytes.find((byte) => byte > 0x20);
  const values = first === 0x7b || first === 0x5b ? jsonStrings(bytes) : (partValues(bytes) ?? formValues(bytes));
  if (values === undefined) return undefined;
  const room = bytes.length <= BYTES.length ? BYTES : new Uint8Array(bytes.length);
  let length = 0;
  let firstEnd = 0;
  let lastStart = 0;
  for (const { start, end } of values) {
    if (start === end) continue;
    room.set(bytes.subarray(start, end), length);
    lastStart = length;
    length += end - start;
    firstEnd ||= length;
  }
  return {
    layer: new Layer(room.subarray(0, length), VIEW, new OriginOfValues(body, values, length)),
    firstEnd,
    lastStart,
  };
}

export interface Joined {
  readonly layer: Layer;
  /** Where the first value ends that is not empty, and where the last one begins. */
  readonly firstEnd: number;
  readonly lastStart: number;
}

/** From the first byte to behind the last. */
interface Value {
  readonly start: number;
  readonly end: number;
}

/** Where each byte comes from is worked out when something is found. */
class OriginOfValues implements Origin {
  readonly parent: Layer;
  readonly #values: readonly Value[];
  readonly #length: number;
  #starts: Int32Array | undefined;

  constructor(parent: Layer, values: readonly Value[], length: number) {
    this.parent = parent;
    this.#values = values;
    this.#length = length;
  }

  get starts(): Int32Array {
    return (this.#starts ??= this.#made());
  }

  #made(): Int32Array {
    const places = new Int32Array(this.#length);
    let at = 0;
    for (const { start, end } of this.#values) for (let place = start; place < end; place++) places[at++] = place;
    return places;
  }
}

/** All strings that are no names. */
function jsonStrings(bytes: Buffer): Value[] | undefined {
  const values: Value[] = [];
  for (let quote = bytes.indexOf(0x22); quote >= 0;) {
    const start = quote + 1;
    const end = endOfString(bytes, start);
    let after = end + 1;
    while (after < bytes.length && (bytes[after] ?? 0) <= 0x20) after++;
    quote = bytes.indexOf(0x22, end + 1);
    if (bytes[after] === 0x3a) continue;
    if (values.length >= MAX_VALUES) return undefined;
    values.push({ start, end });
  }
  return values.length > 0 ? values : undefined;
}

/** Where the closing quotation mark is: one with a backslash before it, which has none itself, is a part of the string. */
function endOfString(bytes: Buffer, start: number): number {
  for (let end = bytes.indexOf(0x22, start); end >= 0; end = bytes.indexOf(0x22, end + 1)) {
    let backslashes = 0;
    while (end - backslashes > start && bytes[end - backslashes - 1] === 0x5c) backslashes++;
    if (backslashes % 2 === 0) return end;
  }
  return bytes.length;
}

/** Of a body in parts, as `multipart/form-data` has them, without their heads; undefined for any other. */
function partValues(bytes: Buffer): Value[] | undefined {
  const line = bytes.indexOf("\r\n");
  if (bytes[0] !== 0x2d || bytes[1] !== 0x2d || line < 3 || line > MAX_BOUNDARY) return undefined;
  const border = Buffer.concat([Buffer.from("\r\n"), bytes.subarray(0, line)]);
  const values: Value[] = [];
  for (let head = line; head >= 0;) {
    const start = bytes.indexOf("\r\n\r\n", head);
    if (start < 0) break;
    const end = bytes.indexOf(border, start + 2);
    if (values.length >= MAX_VALUES) return undefined;
    values.push({ start: start + 4, end: Math.max(start + 4, end < 0 ? bytes.length : end) });
    head = end < 0 ? -1 : end + border.length;
  }
  return values.length > 0 ? values : undefined;
}

/** Of `a=1&b=2`. */
export function formValues(bytes: Uint8Array): Value[] | undefined {
  const values: Value[] = [];
  let start = -1;
  const close = (end: number) => {
    if (start >= 0) values.push({ start, end });
    start = -1;
  };
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === 0x26 || byte === 0x3b) close(at);
    else if (byte === 0x3d && start < 0) {
      if (values.length >= MAX_VALUES) return undefined;
      start = at + 1;
    }
  }
  close(bytes.length);
  return values.length > 0 ? values : undefined;
}
