import { type Readable, type Transform, pipeline } from "node:stream";
import type { MaskingStream } from "../../policy/egress/echo-mask.ts";

/** A beginning of a credential that nothing follows was none. */
const STALL_MS = 25;

/** What an answer is written to. */
export interface AnswerSink {
  write(chunk: Uint8Array): boolean;
  once(event: "drain" | "close", act: () => void): unknown;
  off(event: "drain" | "close", act: () => void): unknown;
  readonly destroyed: boolean;
}

export interface IncomingBodyOptions {
  /** Takes credentials out; null where none was put in. */
  readonly mask: MaskingStream | null;
  readonly decoders: readonly Transform[];
  /** Sees each part before it goes on; throws to end it. */
  readonly watch: ((chunk: Buffer) => void) | null;
}

/** Carries an answer's body to the sandbox, as it comes and as it is taken. Gives the number of bytes; rejects when the upstream breaks off. */
export function carryAnswer(
  body: Readable,
  sink: AnswerSink,
  { mask, decoders, watch }: IncomingBodyOptions,
): Promise<number> {
  const last = decoders.at(-1);
  const source = last ?? body;
  if (last) pipeline([body, ...decoders] as never, () => undefined); // its error is that of the last stream
  return new Promise((done, fail) => {
    let bytes = 0;
    let stall: NodeJS.Timeout | undefined;
    const onDrain = () => source.resume();
    const send = (chunk: Buffer): void => {
      if (chunk.length === 0) return;
      try {
        watch?.(chunk);
      } catch (error) {
        body.destroy();
        settle(() => fail(error instanceof Error ? error : new Error(String(error))));
        return;
      }
      bytes += chunk.length;
      if (sink.write(chunk)) return;
      source.pause();
      sink.once("drain", onDrain);
    };
    const settle = (act: () => void): void => {
      clearTimeout(stall);
      sink.off("close", onGone);
      sink.off("drain", onDrain);
      act();
    };
    const onGone = () => {
      body.destroy();
      settle(() => done(bytes));
    };
    source.on("data", (chunk: Buffer) => {
      if (!mask) {
        send(chunk);
        return;
      }
      clearTimeout(stall);
      const safe = mask.push(chunk);
      send(safe);
      if (safe.length < chunk.length) stall = setTimeout(() => send(mask.flush()), STALL_MS);
    });
    source.once("end", () => {
      if (mask) send(mask.end());
      settle(() => done(bytes));
    });
    source.once("error", (error) => settle(() => fail(error)));
    body.once("close", () => {
      if (!body.readableEnded) settle(() => fail(new Error("the upstream broke off")));
    });
    sink.once("close", onGone);
    if (sink.destroyed) onGone();
  });
}
