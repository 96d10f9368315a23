/** From the first byte to behind the last. */
export interface Piece {
  readonly start: number;
  readonly end: number;
}

/** Bytes that were made out of others: unescaped, decoded, turned around. Each knows where it comes from, so that what is found can be shown, and overwritten, in the original. */
export class Layer {
  readonly bytes: Uint8Array;
  /** How it was made, the outermost first; empty for the original. */
  readonly view: readonly string[];
  readonly #from: Origin | undefined;

  constructor(bytes: Uint8Array, view: readonly string[], from?: Origin) {
    this.bytes = bytes;
    this.view = view;
    this.#from = from;
  }

  get depth(): number {
    return this.#from === undefined ? 0 : 1 + this.#from.parent.depth;
  }

  /** The same pieces in the original, in order, those that touch made one. */
  toOriginal(pieces: readonly Piece[]): Piece[] {
    const origin = this.#from;
    if (origin === undefined) return joined(pieces);
    const above: Piece[] = [];
    for (const { start, end } of pieces) {
      for (let at = start; at < end; at++) {
        const from = origin.starts[at] ?? 0;
        above.push({ start: from, end: origin.ends?.[at] ?? from + 1 });
      }
    }
    return origin.parent.toOriginal(joined(above));
  }
}

export interface Origin {
  readonly parent: Layer;
  /** For each byte: where in the parent that begins which it was made of, and where that ends; without, each was made of one byte. */
  readonly starts: Int32Array;
  readonly ends?: Int32Array;
}

function joined(pieces: readonly Piece[]): Piece[] {
  const result: Piece[] = [];
  for (const piece of pieces.toSorted((one, other) => one.start - other.start)) {
    const last = result.at(-1);
    if (last && piece.start <= last.end) {
      if (piece.end > last.end) result[result.length - 1] = { start: last.start, end: piece.end };
    } else result.push(piece);
  }
  return result;
}
