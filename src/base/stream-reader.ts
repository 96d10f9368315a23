import type { Readable } from "node:stream";

/** Reads a stream by parts of known ends and sizes. */
export class StreamReader {
  readonly #chunks: AsyncIterator<Buffer>;
  #chunk: Buffer = Buffer.alloc(0);

  constructor(stream: Readable) {
    this.#chunks = stream[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  }

  /** The next one; undefined at the end. */
  async byte(): Promise<number | undefined> {
    if (!(await this.#fill())) return undefined;
    const byte = this.#chunk[0];
    this.#chunk = this.#chunk.subarray(1);
    return byte;
  }

  /** As many as there are, and no more than that; undefined at the end. */
  async some(most: number): Promise<Buffer | undefined> {
    if (!(await this.#fill())) return undefined;
    const part = this.#chunk.subarray(0, most);
    this.#chunk = this.#chunk.subarray(part.length);
    return part;
  }

  /** Up to a mark, which goes too; what is longer than `most` is cut. */
  async until(mark: number, most: number): Promise<Buffer> {
    const parts: Buffer[] = [];
    let size = 0;
    while (await this.#fill()) {
      const at = this.#chunk.indexOf(mark);
      const part = at < 0 ? this.#chunk : this.#chunk.subarray(0, at);
      if (size < most) parts.push(part.subarray(0, most - size));
      size += part.length;
      this.#chunk = this.#chunk.subarray(at < 0 ? this.#chunk.length : at + 1);
      if (at >= 0) break;
    }
    return Buffer.concat(parts);
  }

  async #fill(): Promise<boolean> {
    while (this.#chunk.length === 0) {
      const next = await this.#chunks.next();
      if (next.done === true) return false;
      this.#chunk = next.value;
    }
    return true;
  }
}
