import { Duplex } from "node:stream";
import type { ClocheError } from "../base/errors.ts";
import { failure } from "../model/error-codes.ts";
import { GUEST, HOST } from "./frame-types.ts";
import { InputChannel } from "./input-channel.ts";
import type { GuestLink, LinkStream } from "./link.ts";
import { OutputQueue } from "./output-queue.ts";
import { OutputWindow, WINDOW_BYTES } from "./output-window.ts";
import { bytesFrame, creditFrame, readCredit, readData, readEmpty, readEnd, readError } from "./payloads.ts";
import { protocolError } from "./protocol-error.ts";

interface RelayEvents {
  onOpen?: () => void;
  onFail?: (error: ClocheError) => void;
  refused?: (message: string) => ClocheError;
}

/** One connection through the wall, and the Duplex that stands for it. */
export class PortRelay implements LinkStream {
  readonly socket: Duplex;
  readonly #link: GuestLink;
  readonly #events: RelayEvents;
  readonly #queue = new OutputQueue();
  readonly #window = new OutputWindow(0, WINDOW_BYTES);
  #input: InputChannel | undefined;
  #stream = 0;
  #isOpen = false;
  #released = false;
  #wanted = false;

  constructor(link: GuestLink, events: RelayEvents) {
    this.#link = link;
    this.#events = events;
    this.socket = new Duplex({
      allowHalfOpen: true,
      read: () => this.#read(),
      write: (chunk: Buffer, _encoding, done) => this.#write(chunk, done),
      final: (done) => {
        this.#input?.end();
        this.#releaseWhenBothEnded();
        done();
      },
      destroy: (error, done) => {
        this.#drop();
        done(error);
      },
    });
    // a loss that nobody listens for must not bring the program down
    this.socket.on("error", () => undefined);
  }

  set stream(id: number) {
    this.#stream = id;
    this.#input = new InputChannel(this.#link, id);
  }

  get stream(): number {
    return this.#stream;
  }

  open(): void {
    this.#isOpen = true;
    this.#events.onOpen?.();
  }

  receive(type: number, payload: Buffer): void {
    if (type === GUEST.ERROR) {
      this.#refuse(readError(payload).message);
      return;
    }
    if (!this.#isOpen) {
      if (type !== GUEST.OK) throw protocolError(`a frame of type ${type} before the connection`);
      readEmpty(payload, "OK");
      this.open();
      return;
    }
    switch (type) {
      case GUEST.DATA:
        this.#onData(payload);
        return;
      case GUEST.END:
        this.#onEnd(payload);
        return;
      case GUEST.CREDIT:
        this.#input?.addCredit(readCredit(payload));
        return;
      default:
        throw protocolError(`a frame of type ${type} for a connection`);
    }
  }

  fail(error: ClocheError): void {
    this.#released = true;
    this.#input?.close();
    this.#events.onFail?.(error);
    this.socket.destroy(error);
  }

  /** Something else carries the connection from here on. */
  leave(): void {
    this.#released = true;
    this.#link.release(this.#stream);
    this.socket.destroy();
  }

  #refuse(message: string): void {
    this.#link.release(this.#stream);
    this.fail(this.#events.refused?.(message) ?? failure("PORT_FAILED", `The connection ended: ${message}`));
  }

  #onData(payload: Buffer): void {
    const { channel, offset, data } = readData(payload);
    if (channel !== 1) throw protocolError("a connection with two outputs");
    this.#window.receive(offset, data.length);
    if (data.length === 0) return;
    this.#queue.push(channel, offset, data);
    this.#link.buffer(data.length);
    if (this.#wanted) this.#read();
  }

  #onEnd(payload: Buffer): void {
    const { channel, total } = readEnd(payload);
    if (channel !== 1) throw protocolError("a connection with two outputs");
    this.#window.end(total);
    if (this.#wanted) this.#read();
    this.#releaseWhenBothEnded();
  }

  #read(): void {
    this.#wanted = false;
    for (;;) {
      const chunk = this.#queue.shift();
      if (chunk === undefined) break;
      this.#link.buffer(-chunk.data.length);
      const credit = this.#window.consume(chunk.data.length);
      if (credit > 0 && !this.#released) this.#link.send(creditFrame(this.#stream, 1, credit));
      if (!this.socket.push(chunk.data)) return;
    }
    if (this.#window.ended) this.socket.push(null);
    else this.#wanted = true;
  }

  #write(chunk: Buffer, done: (error?: Error | null) => void): void {
    if (this.#input?.writeNow(chunk) === true) done();
    else (this.#input?.write(chunk) ?? Promise.resolve()).then(() => done(), done);
  }

  #releaseWhenBothEnded(): void {
    if (this.#released || !this.#window.ended || !this.#input?.ended) return;
    this.#released = true;
    this.#link.release(this.#stream);
  }

  /** The Duplex was destroyed: the guest is told, unless it knows. */
  #drop(): void {
    for (let chunk = this.#queue.shift(); chunk; chunk = this.#queue.shift()) this.#link.buffer(-chunk.data.length);
    this.#input?.close();
    if (this.#released) return;
    this.#released = true;
    this.#link.send(bytesFrame(HOST.DETACH, this.#stream));
    this.#link.release(this.#stream);
  }
}
