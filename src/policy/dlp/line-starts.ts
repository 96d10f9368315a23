/** Which line an offset is on. */
export class LineStarts {
  readonly #starts: number[] = [0];

  constructor(bytes: Uint8Array) {
    for (let at = bytes.indexOf(0x0a); at !== -1; at = bytes.indexOf(0x0a, at + 1)) this.#starts.push(at + 1);
  }

  /** Both from 1. */
  placeOf(offset: number): { line: number; column: number } {
    let [low, high] = [0, this.#starts.length];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if ((this.#starts[middle] ?? 0) <= offset) low = middle;
      else high = middle;
    }
    return { line: low + 1, column: offset - (this.#starts[low] ?? 0) + 1 };
  }
}
