import type { Writable } from "node:stream";
import { jsonPieces } from "./json-pieces.ts";

/** A client that reads nothing for this long does not get the rest of its answer: its call holds a place that others wait for. */
const STALL_MS = 10_000;
/** And this is how long it may take over all of it. */
const WHOLE_MS = 60_000;

/** Writes a document and a newline, in pieces: the next one when the last has left. Never rejects. */
export async function writePieces(stream: Writable, document: unknown): Promise<void> {
  const until = performance.now() + WHOLE_MS;
  for (const piece of jsonPieces(document)) {
    if (stream.destroyed || !stream.writable) return;
    const left = Math.min(STALL_MS, until - performance.now());
    if (!stream.write(piece) && !(await hasDrained(stream, left))) {
      // SECURITY: an answer that nobody takes is not held for ever (G-25)
      stream.destroy();
      return;
    }
    await new Promise((done) => setImmediate(done));
  }
  if (stream.writable) stream.write("\n");
}

function hasDrained(stream: Writable, withinMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const settle = (drained: boolean) => {
      clearTimeout(timer);
      stream.off("drain", onDrain).off("close", onClose);
      resolve(drained);
    };
    const onDrain = () => settle(true);
    const onClose = () => settle(false);
    const timer = setTimeout(onClose, withinMs);
    stream.on("drain", onDrain).on("close", onClose);
  });
}
