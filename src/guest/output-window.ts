import { protocolError } from "./protocol-error.ts";

/** How much a guest may send ahead of its reader, for each channel. */
export const WINDOW_BYTES = 256 * 1024;

/** The host's account of one output channel: what the guest may still send, and where it is. */
export class OutputWindow {
  #allowed: number;
  #next: number;
  #owed = 0;
  #ended = false;

  constructor(start: number, credit: number) {
    this.#next = start;
    this.#allowed = credit;
  }

  /** SECURITY: without this check a guest could fill the host's memory (G-10). */
  receive(offset: number, length: number): void {
    if (this.#ended) throw protocolError("output after its end");
    if (length > this.#allowed) throw protocolError("more output than it was allowed to send");
    if (offset < this.#next || offset + length > Number.MAX_SAFE_INTEGER) {
      throw protocolError("an output offset that goes backwards or out of range");
    }
    this.#allowed -= length;
    this.#next = offset + length;
  }

  end(total: number): void {
    if (this.#ended) throw protocolError("two ends of one channel");
    if (total < this.#next) throw protocolError("an end before what was sent");
    this.#ended = true;
  }

  get ended(): boolean {
    return this.#ended;
  }

  /** `length` bytes were read; gives the credit that is due now, mostly 0. */
  consume(length: number): number {
    this.#owed += length;
    if (this.#ended || this.#owed < WINDOW_BYTES / 2) return 0;
    const credit = this.#owed;
    this.#owed = 0;
    this.#allowed += credit;
    return credit;
  }
}
