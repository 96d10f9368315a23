import type { ServerResponse } from "node:http";
import type { ClocheError } from "../base/errors.ts";
import { ERROR_CODES, isErrorCode, toWireError } from "../model/error-codes.ts";
import { writePieces } from "./write-pieces.ts";
import type { Progress } from "../model/progress.ts";

const CONTENT_TYPE = "application/x-ndjson";

/** The answer of a call: lines of progress, then its result or its error. */
export class CallAnswer {
  readonly #response: ServerResponse;

  constructor(response: ServerResponse) {
    this.#response = response;
  }

  progress(progress: Progress): void {
    const response = this.#response;
    // A client that does not read misses steps rather than make them pile up.
    if (response.writableEnded || response.destroyed || response.writableNeedDrain) return;
    if (!response.headersSent) response.writeHead(200, { "content-type": CONTENT_TYPE });
    response.write(`${JSON.stringify({ progress })}\n`);
  }

  result(result: unknown): void {
    this.#end(200, { result });
  }

  error(error: ClocheError): void {
    this.#end(isErrorCode(error.code) ? ERROR_CODES[error.code].status : 500, toWireError(error));
  }

  async large(result: unknown): Promise<void> {
    const response = this.#response;
    if (response.writableEnded || response.destroyed) return;
    if (!response.headersSent) response.writeHead(200, { "content-type": CONTENT_TYPE });
    await writePieces(response, { result });
    response.end();
  }

  #end(status: number, document: unknown): void {
    const response = this.#response;
    if (response.writableEnded || response.destroyed) return;
    const line = Buffer.from(`${JSON.stringify(document)}\n`);
    if (!response.headersSent) {
      response.writeHead(status, { "content-type": CONTENT_TYPE, "content-length": line.length });
    }
    response.end(line);
  }
}
