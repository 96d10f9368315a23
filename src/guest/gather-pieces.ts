/** As much as leaves together. */
export const GATHERED_BYTES = 64 * 1024;
/** From here on a piece leaves by itself: copying it would cost more than the joining saves. */
export const LARGE_BYTES = GATHERED_BYTES / 4;

/**
 * The same bytes in fewer pieces: small ones are joined, large ones pass as they are. A producer only yields; what is held back is held here and
 * sent from here, so no producer can forget to send it. Small pieces are copied: their producer may use its buffer again.
 */
export async function* gatherPieces(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let held = Buffer.allocUnsafe(GATHERED_BYTES);
  let used = 0;
  for await (const piece of pieces) {
    const large = piece.length >= LARGE_BYTES;
    if (used > 0 && (large || used + piece.length > GATHERED_BYTES)) {
      yield held.subarray(0, used);
      held = Buffer.allocUnsafe(GATHERED_BYTES); // what was given away may wait to be sent
      used = 0;
    }
    if (large) {
      yield piece;
    } else {
      held.set(piece, used);
      used += piece.length;
    }
  }
  if (used > 0) yield held.subarray(0, used);
}
