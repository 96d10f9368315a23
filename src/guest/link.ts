import type { Duplex } from "node:stream";
import { errnoOf, isClocheError, messageOf, type ClocheError } from "../base/errors.ts";
import { failure } from "../model/error-codes.ts";
import { FrameDecoder } from "./codec.ts";
import { Deferred } from "./deferred.ts";
import { GUEST_STREAM_BIT, isGuestType } from "./frame-types.ts";
import { protocolError } from "./protocol-error.ts";

/** One stream of the protocol. */
export interface LinkStream {
  /** A frame for it; throws GUEST_PROTOCOL for one that does not belong there. */
  receive(type: number, payload: Buffer): void;
  /** The connection is gone; called at most once, nothing follows. */
  fail(error: ClocheError): void;
}

/** Above this much unread output of all streams together, the socket itself is not read any more. */
const MAX_BUFFERED_BYTES = 16 * 1024 * 1024;
const FLUSH_TIMEOUT_MS = 1000;
/** How a socket tells that its other side is gone. */
const ENDS: ReadonlySet<string> = new Set(["ECONNRESET", "EPIPE"]);
const LAST_HOST_STREAM = GUEST_STREAM_BIT - 1;

/**
 * The frames of one connection: sends, hands what comes to the stream it is for, and ends everything once when the peer breaks the
 * protocol or goes. Nothing here throws asynchronously.
 */
export class GuestLink {
  readonly closed: Promise<ClocheError | undefined>;
  readonly #closed = new Deferred<ClocheError | undefined>();
  readonly #stream: Duplex;
  readonly #decoder: FrameDecoder;
  readonly #streams = new Map<number, LinkStream>();
  readonly #control: LinkStream;
  #nextStream = 1;
  #wrapped = false;
  #highestGuestStream = 0;
  #buffered = 0;
  #paused = false;
  #listensSince = 0;
  #corked = false;
  #drained: Deferred<undefined> | undefined;
  #over: ClocheError | undefined;
  #endExpected = false;

  /** `control` gets the frames of stream 0. */
  constructor(stream: Duplex, control: LinkStream) {
    this.closed = this.#closed.promise;
    this.#stream = stream;
    this.#control = control;
    this.#decoder = new FrameDecoder((type, id, payload) => this.#dispatch(type, id, payload));
    stream.on("data", (chunk: Buffer) => this.#receive(chunk));
    stream.on("end", () => this.#lost(undefined));
    stream.on("close", () => this.#lost(undefined));
    stream.on("error", (error: Error) => this.#lost(error));
    stream.on("drain", () => this.#wakeWriters());
  }

  /** Why the link is over; undefined while it works. */
  get over(): ClocheError | undefined {
    return this.#over;
  }

  /** Opens a stream of the host. Throws when the link is over. */
  open(stream: LinkStream): number {
    if (this.#over) throw this.#over;
    const id = this.#freeStream();
    this.#streams.set(id, stream);
    return id;
  }

  /** Takes a stream that the guest opened. */
  accept(id: number, stream: LinkStream): void {
    if (id < GUEST_STREAM_BIT || this.#streams.has(id)) throw protocolError(`a new stream with the number ${id}`);
    this.#highestGuestStream = Math.max(this.#highestGuestStream, id);
    this.#streams.set(id, stream);
  }

  /** The stream has ended; frames that are still on their way to it are ignored. */
  release(id: number): void {
    this.#streams.delete(id);
  }

  /** What is sent in one turn of the event loop leaves in one write. Does nothing once the link is over. */
  send(frame: Uint8Array, body?: Uint8Array): void {
    if (this.#over) return;
    if (!this.#corked) {
      this.#corked = true;
      this.#stream.cork();
      process.nextTick(() => {
        this.#corked = false;
        this.#stream.uncork();
      });
    }
    this.#stream.write(frame);
    if (body) this.#stream.write(body);
  }

  /** Undefined when more can be sent at once; else resolves when it can, also when the link is over. Senders of bulk data ask. */
  drained(): Promise<undefined> | undefined {
    if (this.#over || !this.#stream.writableNeedDrain) return undefined;
    this.#drained ??= new Deferred();
    return this.#drained.promise;
  }

  /** Bytes that were sent and that the guest has not taken yet. */
  get unsent(): number {
    return this.#stream.writableLength;
  }

  /** Since when frames are read as they come; undefined while they are not, because too much waits for its readers. */
  get listensSince(): number | undefined {
    return this.#paused ? undefined : this.#listensSince;
  }

  /** Output came in (positive) or was read (negative). */
  buffer(bytes: number): void {
    this.#buffered += bytes;
    if (!this.#paused && this.#buffered > MAX_BUFFERED_BYTES) {
      this.#paused = true;
      this.#stream.pause();
    } else if (this.#paused && this.#buffered < MAX_BUFFERED_BYTES / 2) {
      this.#paused = false;
      this.#listensSince = performance.now();
      this.#stream.resume();
    }
  }

  /** The end of the connection is asked for and no loss. */
  expectEnd(): void {
    this.#endExpected = true;
  }

  /** Ends everything with `error`; `reported` is what `closed` tells. Idempotent. */
  end(error: ClocheError, reported: ClocheError | undefined): void {
    if (this.#over) return;
    this.#settle(error, reported);
    this.#stream.destroy();
  }

  /** As `end`, but what was sent before still leaves, as far as the guest takes it soon. */
  close(error: ClocheError): void {
    if (this.#over) return;
    this.#settle(error, undefined);
    const stream = this.#stream;
    const timer = setTimeout(() => stream.destroy(), FLUSH_TIMEOUT_MS).unref();
    stream.resume();
    stream.end(() => {
      clearTimeout(timer);
      stream.destroy();
    });
  }

  #settle(error: ClocheError, reported: ClocheError | undefined): void {
    this.#over = error;
    this.#decoder.stop();
    const streams = [this.#control, ...this.#streams.values()];
    this.#streams.clear();
    for (const stream of streams) stream.fail(error);
    this.#wakeWriters();
    this.#closed.resolve(reported);
  }

  #receive(chunk: Buffer): void {
    try {
      this.#decoder.push(chunk);
    } catch (error) {
      // SECURITY: whatever a guest's bytes do to the decoder ends this connection and nothing else (G-10)
      const reason = isClocheError(error) ? error : protocolError(messageOf(error));
      this.end(reason, reason);
    }
  }

  #dispatch(type: number, id: number, payload: Buffer): void {
    if (!isGuestType(type)) throw protocolError(`a frame of type ${type}`);
    const stream = id === 0 ? this.#control : this.#streams.get(id);
    if (stream) stream.receive(type, payload);
    // the guest could not know yet that a stream has ended here, so only a number that never was is an error
    else if (!this.#existed(id)) throw protocolError(`a frame for stream ${id}, which never was`);
  }

  #existed(id: number): boolean {
    return id >= GUEST_STREAM_BIT ? id <= this.#highestGuestStream : this.#wrapped || id < this.#nextStream;
  }

  #freeStream(): number {
    for (;;) {
      const id = this.#nextStream;
      if (id === LAST_HOST_STREAM) {
        this.#nextStream = 1;
        this.#wrapped = true;
      } else {
        this.#nextStream++;
      }
      if (!this.#streams.has(id)) return id;
    }
  }

  #wakeWriters(): void {
    this.#drained?.resolve(undefined);
    this.#drained = undefined;
  }

  #lost(cause: Error | undefined): void {
    if (this.#over) return;
    // The other side's end may be seen by a read, by a write, or as an end of the stream: which one is chance.
    const why = cause && !ENDS.has(errnoOf(cause) ?? "") ? `: ${cause.message}` : "";
    const error = failure("SANDBOX_LOST", `The connection to the sandbox ended${why}`, { cause });
    this.end(error, this.#endExpected ? undefined : error);
  }
}
