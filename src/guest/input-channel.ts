import { startSplitFrame } from "./codec.ts";
import { CHANNEL, HEADER_BYTES, HOST, MAX_PAYLOAD } from "./frame-types.ts";
import type { GuestLink } from "./link.ts";
import { bytesFrame } from "./payloads.ts";
import { Deferred } from "./deferred.ts";

const MAX_PIECE = MAX_PAYLOAD - 1;

/** What the host sends on channel 0 of a stream: as the guest's credit and the socket allow, one write after the other. */
export class InputChannel {
  readonly #link: GuestLink;
  readonly #stream: number;
  #credit = 0;
  #creditCame: Deferred<undefined> | undefined;
  #tail: Promise<void> | undefined;
  #endAsked = false;
  #over = false;

  constructor(link: GuestLink, stream: number) {
    this.#link = link;
    this.#stream = stream;
  }

  addCredit(bytes: number): void {
    this.#credit = Math.min(this.#credit + bytes, Number.MAX_SAFE_INTEGER);
    this.#wake();
  }

  /** Hands all of it on when that can be done at once; false when it is to be written by `write`. */
  writeNow(data: Uint8Array): boolean {
    if (this.#tail || this.#endAsked || this.#over || data.length > Math.min(this.#credit, MAX_PIECE)) return false;
    if (this.#link.over || this.#link.drained()) return false;
    this.#sendPiece(data);
    return true;
  }

  /** Resolves when all is handed on, or when the other side does not read any more; rejects when the connection is lost. */
  write(data: Uint8Array): Promise<void> {
    if (this.#endAsked || this.#over) return Promise.resolve();
    const before = this.#tail;
    const done = before ? before.then(() => this.#send(data)) : this.#send(data);
    const tail = done.finally(() => {
      if (this.#tail === tail) this.#tail = undefined;
    });
    // a caller that does not wait must not bring the program down; `closed` tells the loss
    tail.catch(() => undefined);
    this.#tail = tail;
    return tail;
  }

  /** End of file, after what was written before. Idempotent. */
  end(): void {
    if (this.#endAsked || this.#over) return;
    this.#endAsked = true;
    const sendEnd = () => {
      if (!this.#over) this.#link.send(bytesFrame(HOST.END, this.#stream, CHANNEL.STDIN));
    };
    if (this.#tail) this.#tail.then(sendEnd, () => undefined);
    else sendEnd();
  }

  /** Whether end of file was sent or is about to be. */
  get ended(): boolean {
    return this.#endAsked;
  }

  /** The stream is over: writes that wait are done. */
  close(): void {
    this.#over = true;
    this.#wake();
  }

  async #send(data: Uint8Array): Promise<void> {
    let at = 0;
    while (at < data.length) {
      if (this.#link.over) throw this.#link.over;
      if (this.#over) return;
      const drained = this.#link.drained();
      if (drained) {
        await drained;
      } else if (this.#credit === 0) {
        this.#creditCame ??= new Deferred();
        await this.#creditCame.promise;
      } else {
        const length = Math.min(data.length - at, this.#credit, MAX_PIECE);
        this.#sendPiece(data.subarray(at, at + length));
        at += length;
      }
    }
  }

  #sendPiece(piece: Uint8Array): void {
    const head = startSplitFrame(HOST.DATA, this.#stream, 1, piece.length);
    head[HEADER_BYTES] = CHANNEL.STDIN;
    this.#link.send(head, piece);
    this.#credit -= piece.length;
  }

  #wake(): void {
    this.#creditCame?.resolve(undefined);
    this.#creditCame = undefined;
  }
}
