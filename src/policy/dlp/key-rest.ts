import { BACKSLASH } from "./compact-text.ts";

const DASH = 0x2d;
const DASHES = 5;

/** Characters of a key in a file, also when it is quoted, numbered, or in a string of JSON. In a file it ends at the dashes of its last line. */
export const KEY_TEXT = "A-Za-z0-9+/=\\s\\\\:,.()_>|#*\xe2\x86\x92-";
/** … and of one inside of an encoding, where nobody sees its last line. */
const KEY_CODE = "A-Za-z0-9+/=\\r\\n\\\\_%-";

const tableOf = (inside: string): Uint8Array => {
  const one = new RegExp(`[${inside}]`);
  return Uint8Array.from({ length: 256 }, (_, byte) => (one.test(String.fromCharCode(byte)) ? 1 : 0));
};
const TEXT = tableOf(KEY_TEXT);
const CODE = tableOf(KEY_CODE);

export interface KeyRest {
  /** Behind the last byte that is surely a part of it. */
  readonly end: number;
  /** The bytes are at their end, and it may go on. */
  readonly isOpen: boolean;
}

/**
 * How far a private key goes on from `from`, the place where its pattern had to end. A backslash that is the first half of an escape stays, so that JSON stays JSON; dashes
 * that may become a last line, and backslashes, are left for when more is known.
 */
export function restOfKey(bytes: Uint8Array, from: number, isEncoded: boolean): KeyRest {
  const table = isEncoded ? CODE : TEXT;
  let at = from;
  while (at < bytes.length && table[bytes[at] ?? 0] === 1 && (isEncoded || !startsDashes(bytes, at))) at++;
  const isOpen = at === bytes.length;
  const isLeft = (byte: number | undefined) => byte === BACKSLASH || (isOpen && byte === DASH);
  while (at > from && isLeft(bytes[at - 1])) at--;
  return { end: at, isOpen };
}

function startsDashes(bytes: Uint8Array, at: number): boolean {
  if (at + DASHES > bytes.length) return false;
  for (let index = 0; index < DASHES; index++) if (bytes[at + index] !== DASH) return false;
  return true;
}
