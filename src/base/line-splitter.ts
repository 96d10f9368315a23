const NEWLINE = 10;

/** Cuts a byte stream into lines. Holds what has come of the next one, up to `maxBytes`. */
export class LineSplitter {
  readonly #onLine: (line: Buffer) => void;
  readonly #onTooLong: () => void;
  readonly #maxBytes: number;
  #held: Buffer[] = [];
  #heldBytes = 0;

  constructor(options: { onLine: (line: Buffer) => void; maxBytes?: number; onTooLong?: () => void }) {
    this.#onLine = options.onLine;
    this.#maxBytes = options.maxBytes ?? Infinity;
    this.#onTooLong = options.onTooLong ?? (() => undefined);
  }

  push(chunk: Buffer): void {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      const last = chunk.subarray(start, end);
      const line = this.#heldBytes === 0 ? last : Buffer.concat([...this.#held, last]);
      this.#held = [];
      this.#heldBytes = 0;
      start = end + 1;
      if (line.length > this.#maxBytes) this.#onTooLong();
      else this.#onLine(line);
    }
    if (start === chunk.length) return;
    this.#held.push(chunk.subarray(start));
    this.#heldBytes += chunk.length - start;
    if (this.#heldBytes > this.#maxBytes) this.#onTooLong();
  }
}
