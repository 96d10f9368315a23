import type { IncomingMessage } from "node:http";
import { ClocheError } from "../base/errors.ts";
import { LineSplitter } from "../base/line-splitter.ts";
import type { AnswerLine } from "../model/call-lines.ts";
import type { WireError } from "../model/error-codes.ts";
import { ConnectionLost } from "./connection-lost.ts";

export function toClocheError(document: WireError): ClocheError {
  const { code, message, hint, advice, details } = document.error;
  return new ClocheError(code, message, hint, { advice, ...(details && { details: { ...details } }) });
}

/** The error that the daemon answered instead of what was asked for. */
export function readError(response: IncomingMessage): Promise<Error> {
  return new Promise((resolve) => {
    const lost = (cause: unknown) => resolve(new ConnectionLost(cause, { absent: false, taken: true }));
    const lines = new LineSplitter({
      onLine: (line) => {
        const answer = JSON.parse(line.toString("utf8")) as AnswerLine;
        if ("error" in answer) resolve(toClocheError(answer));
      },
    });
    response.on("data", (chunk: Buffer) => {
      try {
        lines.push(chunk);
      } catch (error) {
        lost(error);
      }
    });
    response.once("error", lost);
    response.once("close", () => lost("no answer"));
  });
}
