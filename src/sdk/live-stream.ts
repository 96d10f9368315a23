import type { ClientRequest } from "node:http";
import { onAbort } from "../base/on-abort.ts";
import { OutputQueue } from "./output-queue.ts";

/** As much output as may wait for its reader in this process. */
const HELD_OUTPUT_BYTES = 1024 * 1024;
/** A stream is given up after so many daemons in a row that ended without having sent anything. */
export const MAX_SILENT_DAEMONS = 3;

/** What a command and an attached shell have in common: output on its way to a reader, input on its way to a request, and an end. */
export class LiveStream {
  readonly queue = new OutputQueue(HELD_OUTPUT_BYTES);
  /** Aborted by the caller's own signal, or by `close`. */
  readonly signal: AbortSignal;
  readonly #own = new AbortController();
  #ended = false;

  constructor(signal: AbortSignal | undefined) {
    this.signal = signal === undefined ? this.#own.signal : AbortSignal.any([signal, this.#own.signal]);
    onAbort(this.signal, () => this.queue.drop());
  }

  /** Nothing more comes, and nothing more is taken. */
  end(): void {
    this.#ended = true;
    this.queue.end();
  }

  /**
   * False when its daemon is gone. What has ended does not want the rest, like a closed pipe: the stream's `result` tells how it went.
   */
  async write(body: ClientRequest | undefined, data: Uint8Array | string): Promise<boolean> {
    return await new Promise<boolean>((resolve) => {
      if (this.#ended) resolve(true);
      else if (body === undefined || body.destroyed) resolve(false);
      else body.write(data, (error) => resolve(this.#ended || !error));
    });
  }

  /** Ends what still goes on, and waits until it has. */
  async close(result: Promise<unknown>): Promise<void> {
    if (!this.#ended) this.#own.abort();
    this.queue.drop();
    await result.catch(() => undefined);
  }
}
