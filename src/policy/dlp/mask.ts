import type { Piece } from "./layer.ts";

const WORD = Buffer.from("REDACTED");
const STAR = 0x2a;

/** Overwrites pieces, each as long as before, with characters that mean nothing in JSON, in a URL or in a header. */
export function mask(bytes: Uint8Array, pieces: readonly Piece[]): void {
  for (const { start, end } of pieces) {
    bytes.fill(STAR, start, end);
    if (end - start >= WORD.length) bytes.set(WORD, start);
  }
}

/** What belongs to something that was overwritten before it. */
export function maskRest(bytes: Uint8Array, start: number, end: number): void {
  bytes.fill(STAR, start, end);
}
