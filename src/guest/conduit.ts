import type { Socket } from "node:net";
import type { ClocheError } from "../base/errors.ts";
import { GUEST, HOST } from "./frame-types.ts";
import type { GuestLink, LinkStream } from "./link.ts";
import { bytesFrame, takeFrame } from "./payloads.ts";
import { protocolError } from "./protocol-error.ts";

/** A connection through a door that has one to the guest program of its own. It belongs to the link that told of it, and ends with that. */
export class Conduit implements LinkStream {
  readonly #link: GuestLink;
  readonly #stream: number;
  readonly #socket: Socket;

  constructor(link: GuestLink, stream: number, socket: Socket) {
    this.#link = link;
    this.#stream = stream;
    this.#socket = socket;
  }

  begin(): void {
    this.#link.accept(this.#stream, this);
    this.#socket.allowHalfOpen = true;
    // A loss that nobody listens for must not bring the program down.
    this.#socket.on("error", () => undefined);
    this.#socket.once("close", () => {
      this.#link.release(this.#stream);
      // A guest program that could not take it still holds its other side.
      this.#link.send(bytesFrame(HOST.DETACH, this.#stream));
    });
    this.#socket.write(takeFrame(this.#stream));
  }

  /** Of the time before the guest program knew that it is carried elsewhere. */
  receive(type: number): void {
    if (type !== GUEST.CREDIT) throw protocolError(`a frame of type ${type} for a connection that has none`);
  }

  fail(error: ClocheError): void {
    this.#socket.destroy(error);
  }
}
