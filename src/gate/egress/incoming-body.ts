import { type Readable, type Transform, pipeline } from "node:stream";
import type { MaskingStream } from "../../policy/egress/echo-mask.ts";
import { spent } from "./collector.ts";

/** A beginning of a credential that nothing follows was none. */
const STALL_MS = 25;
const EMPTY: Buffer = Buffer.alloc(0);

/** What an answer is written to. */
export interface AnswerSink {
  write(chunk: Uint8Array): boolean;
  on(event: "drain" | "close", act: () => void): unknown;
  off(event: "drain" | "close", act: () => void): unknown;
  readonly destroyed: boolean;
}

export interface IncomingBodyOptions {
  /** Takes credentials out; null where none was put in. */
  readonly mask: MaskingStream | null;
  readonly decoders: readonly Transform[];
  /** Sees each part before it goes on; throws to end it. */
  readonly watch: ((chunk: Buffer) => void) | null;
  /** Nothing of it has come together with its head. */
  readonly onSilence?: (() => void) | null;
}

export interface CarriedAnswer {
  /** All of it. */
  readonly bytes: number;
  /** The last of it, which is to go on with the end: a small answer is one write. */
  readonly rest: Buffer;
}

/** Carries an answer's body to the sandbox, as it comes and as it is taken. Rejects when the upstream breaks off. */
export function carryAnswer(body: Readable, sink: AnswerSink, options: IncomingBodyOptions): Promise<CarriedAnswer> {
  return new Promise((done, fail) => new AnswerCarrier(body, sink, options, done, fail).begin());
}

/** What comes in one turn of the event loop goes on as one part: an upstream may send each word of a model in a chunk of its own, and many of these at once. */
class AnswerCarrier {
  readonly #body: Readable;
  readonly #source: Readable;
  readonly #sink: AnswerSink;
  readonly #options: IncomingBodyOptions;
  readonly #done: (carried: CarriedAnswer) => void;
  readonly #fail: (error: Error) => void;
  readonly #onDrain = () => this.#goOn();
  readonly #onGone = () => this.#leave();
  #parts: Buffer[] = [];
  #bytes = 0;
  #soon: NodeJS.Immediate | undefined;
  #stall: NodeJS.Timeout | undefined;
  #isOver = false;

  constructor(
    body: Readable,
    sink: AnswerSink,
    options: IncomingBodyOptions,
    done: (carried: CarriedAnswer) => void,
    fail: (error: Error) => void,
  ) {
    const last = options.decoders.at(-1);
    if (last) pipeline([body, ...options.decoders] as never, () => undefined); // its error is that of the last stream
    this.#body = body;
    this.#source = last ?? body;
    this.#sink = sink;
    this.#options = options;
    this.#done = done;
    this.#fail = fail;
  }

  begin(): void {
    this.#soon = setImmediate(() => {
      if (this.#parts.length === 0) this.#options.onSilence?.();
      this.#pass();
    });
    this.#source.on("data", (chunk: Buffer) => {
      if (this.#isOver) return;
      this.#parts.push(chunk);
      this.#soon ??= setImmediate(() => this.#pass());
    });
    this.#source.on("end", () => this.#end());
    this.#source.on("error", (error) => this.#break(error));
    this.#body.on("close", () => {
      if (!this.#body.readableEnded) this.#break(new Error("the upstream broke off"));
    });
    this.#sink.on("close", this.#onGone);
    if (this.#sink.destroyed) this.#leave();
  }

  /** What has come. */
  #pass(): void {
    this.#soon = undefined;
    if (this.#isOver) return;
    const { mask } = this.#options;
    const chunk = this.#taken();
    if (!mask) {
      this.#send(chunk);
      return;
    }
    clearTimeout(this.#stall);
    const safe = mask.push(chunk);
    this.#send(safe);
    if (safe.length < chunk.length) this.#stall = setTimeout(() => this.#send(mask.flush()), STALL_MS);
  }

  #taken(): Buffer {
    const [only] = this.#parts;
    const chunk = this.#parts.length === 1 && only ? only : Buffer.concat(this.#parts);
    this.#parts = [];
    return chunk;
  }

  #send(chunk: Buffer): void {
    if (chunk.length === 0 || this.#isOver || !this.#isFine(chunk)) return;
    if (this.#sink.write(chunk)) return;
    this.#source.pause();
    this.#sink.on("drain", this.#onDrain);
  }

  #goOn(): void {
    this.#sink.off("drain", this.#onDrain);
    this.#source.resume();
  }

  /** SECURITY: what a watch does not let pass ends the answer there (G-53) */
  #isFine(chunk: Buffer): boolean {
    try {
      this.#options.watch?.(chunk);
    } catch (error) {
      this.#settle();
      this.#body.destroy();
      this.#fail(error instanceof Error ? error : new Error(String(error)));
      return false;
    }
    this.#bytes += chunk.length;
    spent(chunk.length);
    return true;
  }

  #end(): void {
    if (this.#isOver) return;
    const { mask } = this.#options;
    const chunk = this.#taken();
    const rest = mask ? joined(chunk.length === 0 ? EMPTY : mask.push(chunk), mask.end()) : chunk;
    if (rest.length > 0 && !this.#isFine(rest)) return;
    this.#settle();
    this.#done({ bytes: this.#bytes, rest });
  }

  /** Who the answer is for has gone. */
  #leave(): void {
    if (this.#isOver) return;
    this.#settle();
    this.#body.destroy();
    this.#done({ bytes: this.#bytes, rest: EMPTY });
  }

  #break(error: Error): void {
    if (this.#isOver) return;
    // What came before it broke goes on; where that ends it already, it is told of that.
    if (this.#parts.length > 0) this.#pass();
    this.#settle();
    this.#fail(error);
  }

  #settle(): void {
    this.#isOver = true;
    clearImmediate(this.#soon);
    clearTimeout(this.#stall);
    this.#sink.off("close", this.#onGone);
    this.#sink.off("drain", this.#onDrain);
  }
}

const joined = (one: Buffer, other: Buffer): Buffer => {
  if (one.length === 0) return other;
  return other.length === 0 ? one : Buffer.concat([one, other]);
};
