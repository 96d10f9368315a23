import type { ClocheError } from "../base/errors.ts";
import { failure } from "../model/error-codes.ts";
import { Deferred } from "./deferred.ts";
import { GUEST, HOST, type OutputChannel } from "./frame-types.ts";
import { InputChannel } from "./input-channel.ts";
import type { GuestLink, LinkStream } from "./link.ts";
import { OutputQueue, type OutputChunk } from "./output-queue.ts";
import { OutputWindow, WINDOW_BYTES } from "./output-window.ts";
import {
  bytesFrame,
  creditFrame,
  readCredit,
  readData,
  readEnd,
  readError,
  readExit,
  readStarted,
  resizeFrame,
  type GuestExit,
} from "./payloads.ts";
import { protocolError } from "./protocol-error.ts";
import { uint } from "./spawn-frame.ts";

export type { GuestExit, ProcessInfo } from "./payloads.ts";
export type { SpawnSpec } from "./spawn-frame.ts";

export interface ProcessOutput {
  readonly channel: "stdout" | "stderr";
  /** Of the first byte, since the process started; a jump tells that bytes are lost. */
  readonly offset: number;
  readonly data: Buffer;
}

interface ProcessStart {
  /** Frame that opens the stream. */
  readonly frame: (stream: number, credit: number) => Buffer;
  readonly from: { readonly stdout: number; readonly stderr: number };
  /** What an ERROR of the guest becomes. */
  readonly refused: (errno: number, message: string) => ClocheError;
}

/**
 * A process in the sandbox, as one connection sees it. Its output has to be read for it to go on and to end: `output()`, or
 * `discardOutput()`. Rejections that nobody waits for are not reported.
 */
export class GuestProcess implements LinkStream {
  /** Rejects when the guest refused, or the connection was lost before. */
  readonly started: Promise<{ process: number; pid: number }>;
  /** Resolves however it ended; rejects when the guest refused, the connection was lost, or after `detach`. */
  readonly exit: Promise<GuestExit>;

  readonly #link: GuestLink;
  readonly #stream: number;
  readonly #input: InputChannel;
  readonly #refused: ProcessStart["refused"];
  readonly #windows: readonly [OutputWindow, OutputWindow];
  readonly #queue = new OutputQueue();
  readonly #started = new Deferred<{ process: number; pid: number }>();
  readonly #exit = new Deferred<GuestExit>();
  #hasStarted = false;
  #done = false;
  #failure: ClocheError | undefined;
  #abandoned: Error | undefined;
  #reader: "none" | "output" | "discard" = "none";
  #outputCame: Deferred<undefined> | undefined;
  /** Since when `output()` waits; undefined while its reader is busy. */
  #waitsSince: number | undefined;
  #heardAt = 0;

  /** Throws when the link is over or the frame cannot be made. */
  constructor(link: GuestLink, { frame, from, refused }: ProcessStart) {
    this.started = this.#started.promise;
    this.exit = this.#exit.promise;
    this.#link = link;
    this.#refused = refused;
    this.#windows = [new OutputWindow(from.stdout, WINDOW_BYTES), new OutputWindow(from.stderr, WINDOW_BYTES)];
    this.#stream = link.open(this);
    this.#input = new InputChannel(link, this.#stream);
    try {
      link.send(frame(this.#stream, WINDOW_BYTES));
    } catch (error) {
      link.release(this.#stream);
      throw error;
    }
  }

  /** Whether nothing more will come: it ended, was refused, detached, or the connection is lost. */
  get done(): boolean {
    return this.#done;
  }

  /** Milliseconds for which `output()` has waited without a word from the guest about this process; 0 while its reader is busy. */
  get silentMs(): number {
    const { listensSince } = this.#link;
    if (this.#waitsSince === undefined || listensSince === undefined) return 0;
    return performance.now() - Math.max(this.#waitsSince, this.#heardAt, listensSince);
  }

  /** Chunks in order of arrival, for one reader; credit is given when the reader comes back. Leaving it early discards the rest. */
  async *output(): AsyncGenerator<ProcessOutput, void, undefined> {
    if (this.#reader !== "none") throw failure("INTERNAL", "The output of a process can be read once");
    this.#reader = "output";
    try {
      for (;;) {
        if (this.#abandoned) throw this.#abandoned;
        const chunk = this.#queue.shift();
        if (chunk) {
          this.#link.buffer(-chunk.data.length);
          try {
            yield { channel: chunk.channel === 1 ? "stdout" : "stderr", offset: chunk.offset, data: chunk.data };
          } finally {
            this.#consumed(chunk);
          }
        } else if (this.#done) {
          if (this.#failure) throw this.#failure;
          return;
        } else {
          this.#outputCame = new Deferred();
          this.#waitsSince = performance.now();
          await this.#outputCame.promise;
          this.#waitsSince = undefined;
        }
      }
    } finally {
      this.#discard();
    }
  }

  /** Reads and forgets all output, for a caller that wants the exit only. */
  discardOutput(): void {
    if (this.#reader === "none") this.#discard();
  }

  /** `output()` throws `error` at once; what still comes is forgotten. For a caller that will not wait for the end. */
  abandonOutput(error: Error): void {
    this.#abandoned = error;
    this.#discard();
    this.#wake();
  }

  /** To stdin. Waits for the process to read; resolves quietly when it has ended; rejects when the connection is lost. */
  write(data: Uint8Array): Promise<void> {
    return this.#input.write(data);
  }

  /** End of file on stdin, after what was written. */
  endInput(): void {
    this.#input.end();
  }

  /** Does nothing once it has ended. */
  signal(signo: number, scope: "group" | "tree" = "group"): void {
    const number = uint(signo, "signal number", 255);
    if (!this.#done) this.#link.send(bytesFrame(HOST.SIGNAL, this.#stream, number, scope === "tree" ? 1 : 0));
  }

  resize(cols: number, rows: number): void {
    const frame = resizeFrame(
      this.#stream,
      uint(cols, "number of columns", 0xffff),
      uint(rows, "number of rows", 0xffff),
    );
    if (!this.#done) this.#link.send(frame);
  }

  /** The process goes on without this connection; `output()` ends after what has come. */
  detach(): void {
    if (this.#done) return;
    this.#link.send(bytesFrame(HOST.DETACH, this.#stream));
    this.#finish();
    const error = failure("CANCELLED", "The process was detached from");
    this.#started.reject(error);
    this.#exit.reject(error);
  }

  /** For the link: a frame of this stream has come. */
  receive(type: number, payload: Buffer): void {
    this.#heardAt = performance.now();
    switch (type) {
      case GUEST.STARTED:
        this.#onStarted(payload);
        return;
      case GUEST.DATA:
        this.#onData(payload);
        return;
      case GUEST.END: {
        const { channel, total } = readEnd(payload);
        this.#window(channel).end(total);
        return;
      }
      case GUEST.CREDIT:
        this.#input.addCredit(readCredit(payload));
        return;
      case GUEST.EXIT:
        this.#onExit(readExit(payload));
        return;
      case GUEST.ERROR: {
        const { errno, message } = readError(payload);
        this.fail(this.#refused(errno, message));
        return;
      }
      default:
        throw protocolError(`a frame of type ${type} for a process`);
    }
  }

  /** For the link: nothing more comes. */
  fail(error: ClocheError): void {
    if (this.#done) return;
    this.#failure = error;
    this.#finish();
    this.#started.reject(error);
    this.#exit.reject(error);
  }

  #onStarted(payload: Buffer): void {
    if (this.#hasStarted) throw protocolError("a process that started twice");
    this.#hasStarted = true;
    this.#started.resolve(readStarted(payload));
  }

  #onData(payload: Buffer): void {
    const { channel, offset, data } = readData(payload);
    if (!this.#hasStarted) throw protocolError("output before the start");
    this.#window(channel).receive(offset, data.length);
    if (data.length === 0) return;
    if (this.#reader === "discard") {
      this.#consumed({ channel, offset, data });
      return;
    }
    this.#queue.push(channel, offset, data);
    this.#link.buffer(data.length);
    this.#wake();
  }

  #onExit(exit: GuestExit): void {
    this.#finish();
    // A process that never started has said why.
    if (!this.#hasStarted) this.#started.reject(this.#refused(exit.code, exit.message));
    this.#exit.resolve(exit);
  }

  #finish(): void {
    this.#done = true;
    this.#link.release(this.#stream);
    this.#input.close();
    this.#wake();
  }

  #discard(): void {
    this.#reader = "discard";
    for (let chunk = this.#queue.shift(); chunk; chunk = this.#queue.shift()) {
      this.#link.buffer(-chunk.data.length);
      this.#consumed(chunk);
    }
  }

  #consumed({ channel, data }: OutputChunk): void {
    const credit = this.#window(channel).consume(data.length);
    if (credit > 0 && !this.#done) this.#link.send(creditFrame(this.#stream, channel, credit));
  }

  #window(channel: OutputChannel): OutputWindow {
    return this.#windows[channel === 1 ? 0 : 1];
  }

  #wake(): void {
    this.#outputCame?.resolve(undefined);
    this.#outputCame = undefined;
  }
}
