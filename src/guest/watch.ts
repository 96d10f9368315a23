import type { ClocheError } from "../base/errors.ts";
import { onAbort } from "../base/on-abort.ts";
import { failure } from "../model/error-codes.ts";
import { Deferred } from "./deferred.ts";
import { GUEST, HOST } from "./frame-types.ts";
import type { GuestLink, LinkStream } from "./link.ts";
import { attachFrame, bytesFrame, readError, readExit, readStarted, type GuestExit } from "./payloads.ts";
import { protocolError } from "./protocol-error.ts";

/** Waits for the end of a process without reading from it: ATTACH with no credit. */
export class GuestWatch implements LinkStream {
  readonly #link: GuestLink;
  readonly #process: number;
  readonly #stream: number;
  readonly #exit = new Deferred<GuestExit>();
  #started = false;

  /** Throws when the link is over. */
  constructor(link: GuestLink, process: number) {
    this.#link = link;
    this.#process = process;
    this.#stream = link.open(this);
    link.send(attachFrame(this.#stream, process, { stdout: 0, stderr: 0 }, 0));
  }

  async until(signal: AbortSignal | undefined): Promise<GuestExit> {
    const stopListening = onAbort(signal, () => {
      this.#link.send(bytesFrame(HOST.DETACH, this.#stream));
      this.#link.release(this.#stream);
      this.fail(failure("CANCELLED", `Waiting for process ${this.#process} of the sandbox was cancelled`));
    });
    try {
      return await this.#exit.promise;
    } finally {
      stopListening();
    }
  }

  /** For the link: a frame of this stream has come. */
  receive(type: number, payload: Buffer): void {
    if (type === GUEST.STARTED && !this.#started) {
      this.#started = true;
      readStarted(payload);
    } else if (type === GUEST.EXIT) {
      const exit = readExit(payload);
      this.#link.release(this.#stream);
      this.#exit.resolve(exit);
    } else if (type === GUEST.ERROR) {
      const { errno, message } = readError(payload);
      this.#link.release(this.#stream);
      const text = `Cannot wait for process ${this.#process} of the sandbox: ${message}`;
      this.fail(failure("COMMAND_NOT_FOUND", text, { details: { errno } }));
    } else {
      throw protocolError(`a frame of type ${type} for a process that is only waited for`);
    }
  }

  /** For the link: nothing more comes. */
  fail(error: ClocheError): void {
    this.#exit.reject(error);
  }
}
