import type { IncomingMessage } from "node:http";
import { ClocheError } from "../base/errors.ts";
import type { ErrorDocument } from "../model/error-codes.ts";
import type { Progress, ReportProgress } from "../model/results.ts";
import { ConnectionLost } from "./http-exchange.ts";

type Line = { progress: Progress } | { result: unknown } | ErrorDocument;

export function toClocheError(document: ErrorDocument): ClocheError {
  const { code, message, hint, details } = document.error;
  return new ClocheError(code, message, hint, details === undefined ? {} : { details: { ...details } });
}

/** Reads lines of progress up to the result. Throws the error that the daemon answered, or `ConnectionLost`. */
export async function readAnswer(response: IncomingMessage, onProgress: ReportProgress | undefined): Promise<unknown> {
  let outcome: { result: unknown } | { error: ClocheError } | undefined;
  try {
    for await (const text of lines(response)) {
      const line = JSON.parse(text) as Line;
      if ("progress" in line) onProgress?.(line.progress);
      else outcome = "error" in line ? { error: toClocheError(line) } : line;
    }
  } catch (error) {
    throw new ConnectionLost(error, { absent: false, taken: true });
  }
  if (outcome === undefined) throw new ConnectionLost("no result", { absent: false, taken: true });
  if ("error" in outcome) throw outcome.error;
  return outcome.result;
}

async function* lines(chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let held: Buffer[] = [];
  for await (let chunk of chunks) {
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10)) {
      held.push(chunk.subarray(0, end));
      yield Buffer.concat(held).toString("utf8");
      held = [];
      chunk = chunk.subarray(end + 1);
    }
    if (chunk.length > 0) held.push(chunk);
  }
  if (held.length > 0) yield Buffer.concat(held).toString("utf8");
}
