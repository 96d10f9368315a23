/**
 * How a value looks inside of something that was encoded. Which characters it becomes depends on how many bytes are before it, so there is one form for each
 * alignment, and a form has only those characters that the value alone decides. Looking for the forms is much cheaper than decoding everything.
 */
export interface Form {
  /** Empty for the value itself; the outermost encoding first. */
  readonly view: readonly ViewName[];
  readonly bytes: Uint8Array;
  /** What the outermost encoding encodes. */
  readonly inner: Uint8Array;
  /** Bytes before it in its group: the alignment. */
  readonly before: number;
}

export type ViewName =
  "reversed" | "base64" | "base32" | "hex" | "escaped" | "decimal" | "octal" | "binary" | "rot13" | "utf16";

const BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/** The characters of `bits` bits each that lie wholly in a value with `before` bytes before it. */
function wholeCharacters(text: string, bits: number, before: number, length: number): Uint8Array {
  return Buffer.from(text.slice(Math.ceil((8 * before) / bits), Math.floor((8 * (before + length)) / bits)), "latin1");
}

export function base64Forms(bytes: Uint8Array, urlSafe = false): Uint8Array[] {
  return [0, 1, 2].map((before) => {
    const text = Buffer.concat([Buffer.alloc(before), bytes]).toString(urlSafe ? "base64url" : "base64");
    return wholeCharacters(text, 6, before, bytes.length);
  });
}

export function base32Forms(bytes: Uint8Array): Uint8Array[] {
  return [0, 1, 2, 3, 4].map((before) => base32From(bytes, before));
}

/** The whole characters of `bytes` in base32 with `before` bytes before them. */
function base32From(bytes: Uint8Array, before: number): Uint8Array {
  const first = Math.ceil((8 * before) / 5);
  const end = Math.floor((8 * (before + bytes.length)) / 5);
  return Uint8Array.from({ length: Math.max(0, end - first) }, (_, index) => {
    const bit = 5 * (first + index) - 8 * before;
    const pair = ((bytes[bit >> 3] ?? 0) << 8) | (bytes[(bit >> 3) + 1] ?? 0);
    return BASE32.charCodeAt((pair >> (11 - (bit & 7))) & 31);
  });
}

const latin1 = (text: string): Uint8Array => Buffer.from(text, "latin1");
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");
const codes = (bytes: Uint8Array, write: (byte: number) => string): Uint8Array =>
  latin1(Array.from(bytes, write).join(" "));

function rot13(bytes: Uint8Array): Uint8Array {
  const turn = (byte: number, first: number) => ((byte - first + 13) % 26) + first;
  return bytes.map((byte) => {
    if (byte >= 65 && byte <= 90) return turn(byte, 65);
    return byte >= 97 && byte <= 122 ? turn(byte, 97) : byte;
  });
}

const form = (name: ViewName, bytes: Uint8Array, inner: Uint8Array): Form => ({
  view: [name],
  bytes,
  inner,
  before: 0,
});
const aligned = (name: "base64" | "base32", forms: readonly Uint8Array[], inner: Uint8Array): Form[] =>
  forms.map((bytes, before) => ({ view: [name], bytes, inner, before }));
const inside = (outer: Form, inner: Form): Form => ({ ...outer, view: [...outer.view, ...inner.view] });
/** Turned around twice is nothing at all. */
const cancels = (outer: Form, inner: Form): boolean => outer.view[0] === "reversed" && inner.view[0] === "reversed";

/** What a text may be turned into that somebody undoes afterwards. Reading drops separators and case, so forms need not differ in these. */
function outerForms(bytes: Uint8Array): Form[] {
  return [
    ...aligned("base64", base64Forms(bytes), bytes),
    ...aligned("base32", base32Forms(bytes), bytes),
    form("hex", latin1(hex(bytes)), bytes),
    form("reversed", bytes.toReversed(), bytes),
  ];
}

/** Ways to write a value that are seen alone only; what is rare is not looked for inside of something else. */
function rareForms(bytes: Uint8Array): Form[] {
  const wide = Buffer.from(Buffer.from(bytes).toString("latin1"), "utf16le");
  const written = (name: ViewName, write: (byte: number) => string) => form(name, codes(bytes, write), bytes);
  return [
    form("rot13", rot13(bytes), bytes),
    written("decimal", (byte) => byte.toString()),
    written("hex", (byte) => `0x${byte.toString(16).padStart(2, "0")}`),
    written("octal", (byte) => byte.toString(8).padStart(3, "0")),
    written("binary", (byte) => byte.toString(2).padStart(8, "0")),
    // Of both orders of bytes: without its last zero one is a part of the other.
    form("hex", latin1(hex(wide.subarray(0, -1))), wide),
    ...aligned("base64", base64Forms(wide), wide).map((one): Form => ({ ...one, view: ["base64", "utf16"] })),
  ];
}

/** A text whose characters were written as escapes before it was encoded: all of them, or as libraries do it. Without an encoding around them escapes are undone. */
function escapedForms(bytes: Uint8Array): Form[] {
  const text = Buffer.from(bytes).toString();
  const all = (write: (byte: number) => string) => Array.from(bytes, write).join("");
  const percent = all((byte) => `%${byte.toString(16).padStart(2, "0")}`);
  const texts = [
    percent,
    percent.toUpperCase(),
    all((byte) => `\\u${byte.toString(16).padStart(4, "0")}`),
    encodeURIComponent(text),
    JSON.stringify(text).slice(1, -1),
  ];
  return [...new Set(texts)].filter((one) => one !== text).map((one) => form("escaped", Buffer.from(one), bytes));
}

/** A text inside of an encoding is read exactly, so here case and alphabet count. */
function exactForms(bytes: Uint8Array): Form[] {
  const standard = base64Forms(bytes);
  const urlSafe = aligned("base64", base64Forms(bytes, true), bytes).filter(
    (one, at) => !Buffer.from(one.bytes).equals(standard[at] ?? one.bytes),
  );
  return [
    ...aligned("base64", standard, bytes),
    ...urlSafe,
    ...aligned("base32", base32Forms(bytes), bytes),
    form("hex", latin1(hex(bytes)), bytes),
    form("hex", latin1(hex(bytes).toUpperCase()), bytes),
    form("reversed", bytes.toReversed(), bytes),
  ];
}

/** Every encoding, and every encoding of every encoding, for a reader that drops separators and case. Without the value itself. */
export function encodedForms(bytes: Uint8Array): Form[] {
  const twice = [...exactForms(bytes), ...escapedForms(bytes)].flatMap((inner) =>
    outerForms(inner.bytes)
      .filter((outer) => !cancels(outer, inner))
      .map((outer) => inside(outer, inner)),
  );
  return [...outerForms(bytes), ...rareForms(bytes), ...twice];
}

/** Encodings of a word that a reader of bytes as they stand looks for. Those that are rare are not looked for inside of others: there are many words. */
export function wordForms(bytes: Uint8Array, isNested: boolean): Form[] {
  const once = exactForms(bytes);
  const small = base32Forms(bytes).map((text) => latin1(Buffer.from(text).toString("latin1").toLowerCase()));
  if (!isNested) return once.filter(({ view }) => view[0] === "base64" || view[0] === "hex");
  const twice = once
    .filter(({ view }) => view[0] !== "base32")
    .flatMap((inner) =>
      exactForms(inner.bytes)
        .filter((outer) => outer.view[0] !== "base32" && !cancels(outer, inner))
        .map((outer) => inside(outer, inner)),
    );
  // Words have no signs that a library would escape.
  const escaped = escapedForms(bytes).flatMap((inner) =>
    aligned("base64", base64Forms(inner.bytes), inner.bytes).map((outer) => inside(outer, inner)),
  );
  return [...once, ...aligned("base32", small, bytes), ...twice, ...escaped];
}
