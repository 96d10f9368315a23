import { Layer } from "./layer.ts";

/** More values than this are no value that was cut up. */
const MAX_VALUES = 4096;

/**
 * What a small body says when its values are read one after the other: the strings of a JSON document without their names, or the values of a form. It finds what was
 * cut into several of them.
 */
export function joinedValues(body: Layer): Layer | undefined {
  const first = body.bytes.find((byte) => byte > 0x20);
  const places = first === 0x7b || first === 0x5b ? jsonStrings(body.bytes) : formValues(body.bytes);
  if (places === undefined) return undefined;
  const bytes = new Uint8Array(places.length);
  const ends = new Int32Array(places.length);
  for (let index = 0; index < places.length; index++) {
    const place = places[index] ?? 0;
    bytes[index] = body.bytes[place] ?? 0;
    ends[index] = place + 1;
  }
  return new Layer(bytes, ["joined"], { parent: body, starts: places, ends });
}

/** Places of the characters of all strings that are no names. */
function jsonStrings(bytes: Uint8Array): Int32Array | undefined {
  const places = new Int32Array(bytes.length);
  let length = 0;
  let values = 0;
  for (let at = 0; at < bytes.length; at++) {
    if (bytes[at] !== 0x22) continue;
    const start = at + 1;
    for (at = start; at < bytes.length && bytes[at] !== 0x22; at++) if (bytes[at] === 0x5c) at++;
    let after = at + 1;
    while (after < bytes.length && (bytes[after] ?? 0) <= 0x20) after++;
    if (bytes[after] === 0x3a) continue;
    if (++values > MAX_VALUES) return undefined;
    for (let place = start; place < at && place < bytes.length; place++) places[length++] = place;
  }
  return values > 0 ? places.subarray(0, length) : undefined;
}

/** Of `a=1&b=2`. */
export function formValues(bytes: Uint8Array): Int32Array | undefined {
  const places = new Int32Array(bytes.length);
  let length = 0;
  let values = 0;
  let isValue = false;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === 0x26 || byte === 0x3b) isValue = false;
    else if (byte === 0x3d && !isValue) {
      isValue = true;
      if (++values > MAX_VALUES) return undefined;
    } else if (isValue) places[length++] = at;
  }
  return values > 0 ? places.subarray(0, length) : undefined;
}
