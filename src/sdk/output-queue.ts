import type { OutputChunk } from "./options.ts";

/** Output between the network and its reader, bounded: `push` resolves when there is room again. */
export class OutputQueue {
  readonly #highWaterBytes: number;
  #chunks: OutputChunk[] = [];
  #bytes = 0;
  #ended = false;
  #dropping = false;
  #taken = false;
  #wakeReader: (() => void) | undefined;
  #wakeWriter: (() => void) | undefined;

  constructor(highWaterBytes: number) {
    this.#highWaterBytes = highWaterBytes;
  }

  async push(chunk: OutputChunk): Promise<void> {
    if (this.#dropping) return;
    this.#chunks.push(chunk);
    this.#bytes += chunk.data.length;
    this.#wakeReader?.();
    if (this.#bytes < this.#highWaterBytes) return;
    await new Promise<void>((resolve) => {
      this.#wakeWriter = resolve;
    });
  }

  end(): void {
    this.#ended = true;
    this.#wakeReader?.();
  }

  /** Forgets what is there and what comes; nobody waits for a reader any more. */
  drop(): void {
    this.#dropping = true;
    this.#chunks = [];
    this.#bytes = 0;
    this.#wakeWriter?.();
    this.#wakeReader?.();
  }

  async *read(): AsyncGenerator<OutputChunk, void> {
    if (this.#taken) throw new TypeError("output() may be called once");
    this.#taken = true;
    try {
      for (;;) {
        const chunk = this.#chunks.shift();
        if (chunk !== undefined) {
          this.#bytes -= chunk.data.length;
          if (this.#bytes < this.#highWaterBytes) this.#wakeWriter?.();
          yield chunk;
        } else if (this.#ended || this.#dropping) return;
        else {
          await new Promise<void>((resolve) => {
            this.#wakeReader = resolve;
          });
        }
      }
    } finally {
      this.drop();
    }
  }
}
