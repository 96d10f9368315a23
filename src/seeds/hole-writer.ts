import * as fs from "node:fs";

const zeros = Buffer.alloc(1024 * 1024);

/** Fills a new file from its beginning. What comes as zeros becomes a hole, which takes no room. */
export class HoleWriter {
  readonly #fd: number;
  readonly #before: (bytes: number) => void;
  #at = 0;
  /** Up to where bytes were written. */
  #written = 0;

  /** `before` is told of bytes that are about to be written. */
  constructor(fd: number, before: (bytes: number) => void) {
    this.#fd = fd;
    this.#before = before;
  }

  add(chunk: Uint8Array): void {
    for (let from = 0; from < chunk.length; from += zeros.length) {
      const part = chunk.subarray(from, from + zeros.length);
      if (zeros.compare(part, 0, part.length, 0, part.length) !== 0) {
        this.#before(part.length);
        for (let done = 0; done < part.length;)
          done += fs.writeSync(this.#fd, part, done, part.length - done, this.#at + done);
        this.#written = this.#at + part.length;
      }
      this.#at += part.length;
    }
  }

  /** A hole at the end is only a size. */
  end(): void {
    if (this.#written < this.#at) fs.ftruncateSync(this.#fd, this.#at);
  }
}
