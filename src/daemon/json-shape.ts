import { failure } from "../model/error-codes.ts";

/** Below that, no document is large in memory. */
const SMALL_BYTES = 64 * 1024;
const MAX_DEPTH = 32;
/** Of objects, lists and what is in them. What is long in an honest request is its strings. */
const MAX_PARTS = 50_000;
const [QUOTE, BACKSLASH] = [0x22, 0x5c];
const OPENING: ReadonlySet<number> = new Set(Buffer.from("[{"));
const CLOSING: ReadonlySet<number> = new Set(Buffer.from("]}"));
const BETWEEN: ReadonlySet<number> = new Set(Buffer.from(",:"));

/**
 * Refuses a document of many small parts before it is parsed.
 * SECURITY: a few MiB of empty objects are many hundred MiB when they are parsed, and seconds in which nobody else is answered (G-25)
 */
export function requireFewParts(bytes: Buffer): void {
  if (bytes.length <= SMALL_BYTES) return;
  let [depth, parts] = [0, 0];
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0;
    if (byte === QUOTE) at = endOfString(bytes, at + 1);
    else if (CLOSING.has(byte)) depth--;
    else if (OPENING.has(byte) || BETWEEN.has(byte)) {
      parts++;
      if (OPENING.has(byte)) depth++;
      if (depth > MAX_DEPTH || parts > MAX_PARTS) throw tooManyParts();
    }
  }
}

/** The place of the quote that ends a string, or the end of the document: it is no JSON then, which the parser tells. */
function endOfString(bytes: Buffer, from: number): number {
  for (let at = bytes.indexOf(QUOTE, from); at >= 0; at = bytes.indexOf(QUOTE, at + 1)) {
    let before = at;
    while (before > from && bytes[before - 1] === BACKSLASH) before--;
    if ((at - before) % 2 === 0) return at;
  }
  return bytes.length;
}

const tooManyParts = () =>
  failure("INVALID_ARGUMENT", `The request has more than ${MAX_PARTS} parts, or more than ${MAX_DEPTH} levels`, {
    hint: "Send less at once",
  });
