import type { IncomingMessage } from "node:http";
import { ClocheError } from "../base/errors.ts";
import type { ErrorDocument } from "../model/error-codes.ts";
import type { Progress, ReportProgress } from "../model/results.ts";
import { ConnectionLost } from "./http-exchange.ts";

const NEWLINE = 10;

type Line = { progress: Progress } | { result: unknown } | ErrorDocument;

export function toClocheError(document: ErrorDocument): ClocheError {
  const { code, message, hint, details } = document.error;
  return new ClocheError(code, message, hint, details === undefined ? {} : { details: { ...details } });
}

/**
 * Reads lines of progress up to the result. Throws the error that the daemon answered, or `ConnectionLost`. By events rather than by iteration, and done
 * with the line that has the result rather than with the end of the answer: this is on the path of every call.
 */
export function readAnswer(response: IncomingMessage, onProgress: ReportProgress | undefined): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const lost = (cause: unknown) => reject(new ConnectionLost(cause, { absent: false, taken: true }));
    const take = (text: string) => {
      const line = JSON.parse(text) as Line;
      if ("progress" in line) onProgress?.(line.progress);
      else if ("error" in line) reject(toClocheError(line));
      else resolve(line.result);
    };
    let held: Buffer[] = [];
    response.on("data", (chunk: Buffer) => {
      let start = 0;
      try {
        for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
          held.push(chunk.subarray(start, end));
          take(Buffer.concat(held).toString("utf8"));
          held = [];
          start = end + 1;
        }
      } catch (error) {
        lost(error);
      }
      if (start < chunk.length) held.push(chunk.subarray(start));
    });
    response.once("error", lost);
    response.once("close", () => lost("no result"));
  });
}
