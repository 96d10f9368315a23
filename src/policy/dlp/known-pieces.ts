/** What of a value is looked for, and how much of it is enough. */
export interface KnownPiece {
  readonly bytes: Uint8Array;
  /** A random part of it is as telling as the whole: half of a token in one place is found. */
  readonly isRandom: boolean;
}

/**
 * `none`: shorter than 6 characters. It would be found in everything, so it is not looked for.
 * `weak`: shorter than 8, or a word or a number that text may well have. Looked for as it stands, between word borders, and in no other view.
 * `strong`: looked for in every view.
 */
export type Strength = "none" | "weak" | "strong";

const LEAST = 6;
const LEAST_STRONG = 8;
/** A value of letters of one case, or of digits, is strong from here on. */
const LEAST_PLAIN = 16;
/** A longer value is looked for in pieces. */
const LONG = 128;
const LEAST_RUN = 24;
const MAX_PIECES = 16;

export function strengthOf(value: string): Strength {
  if (value.length < LEAST) return "none";
  const isPlain = /^(?:[a-z_-]*|[A-Z_-]*|[A-Z]?[a-z]*|[0-9.:-]*|(?:true|false))$/.test(value);
  if (value.length < LEAST_STRONG || (isPlain && value.length < LEAST_PLAIN)) return "weak";
  return new Set(value).size < 5 ? "weak" : "strong";
}

export function piecesOf(value: string): KnownPiece[] {
  const whole = Buffer.from(value);
  if (value.length <= LONG) return [{ bytes: whole, isRandom: isRandom(value) }, ...passwordOf(value)];
  const runs = value.match(/[A-Za-z0-9+/=_-]{24,}/g)?.filter(isRandom) ?? [];
  if (runs.length === 0) return [{ bytes: whole.subarray(0, LONG), isRandom: false }];
  // The first and the last ones of a long key: none of its parts leaves with both missing but by one who knows what we look for.
  const chosen = runs.length <= MAX_PIECES ? runs : [...runs.slice(0, MAX_PIECES / 2), ...runs.slice(-MAX_PIECES / 2)];
  return chosen.flatMap((run) => cut(Buffer.from(run)));
}

/** Of `scheme://user:password@host`: alone too, since the rest of the address is no secret. */
function passwordOf(value: string): KnownPiece[] {
  const password = /^[a-z][a-z0-9+.-]*:\/\/[^/?#@]*?:([^/?#]+)@/i.exec(value)?.[1];
  if (password === undefined || strengthOf(password) !== "strong") return [];
  return [{ bytes: Buffer.from(password), isRandom: isRandom(password) }];
}

function cut(run: Buffer): KnownPiece[] {
  const parts = Math.ceil(run.length / LONG);
  const size = Math.ceil(run.length / parts);
  return Array.from({ length: Math.min(parts, MAX_PIECES) }, (_, part) => ({
    bytes: run.subarray(part * size, (part + 1) * size),
    isRandom: true,
  }));
}

/** Looks like what a generator made: one run, of digits and letters, of many different characters. */
function isRandom(value: string): boolean {
  return (
    value.length >= LEAST_RUN &&
    /^[A-Za-z0-9+/=_.~-]+$/.test(value) &&
    /[0-9]/.test(value) &&
    /[A-Za-z]/.test(value) &&
    new Set(value).size >= 10
  );
}
