import type { ServerResponse } from "node:http";
import type { ClocheError } from "../base/errors.ts";
import { toWireError } from "../model/error-codes.ts";
import type { CommandName, OperationStart } from "../model/operations.ts";
import { encodeJsonFrame, encodeStreamFrame, FRAME, STREAM_CONTENT_TYPE } from "../model/stream-frames.ts";
import { CallAnswer } from "./call-answer.ts";
import type { CommandEmitter, EventsEmitter } from "../workspaces/verb.ts";

/** The answer of a stream: frames. An error before the first of them is an ordinary answer. */
export class StreamAnswer implements CommandEmitter<CommandName>, EventsEmitter<object> {
  readonly #response: ServerResponse;

  constructor(response: ServerResponse) {
    this.#response = response;
  }

  started(info: OperationStart<CommandName>): void {
    void this.#write(encodeJsonFrame(FRAME.started, info));
  }

  async stdout(data: Buffer): Promise<void> {
    await this.#write(encodeStreamFrame(FRAME.stdout, data));
  }

  async stderr(data: Buffer): Promise<void> {
    await this.#write(encodeStreamFrame(FRAME.stderr, data));
  }

  async event(event: object): Promise<void> {
    await this.#write(encodeJsonFrame(FRAME.event, event));
  }

  exit(result: unknown): void {
    void this.#write(encodeJsonFrame(FRAME.exit, result));
    this.#response.end();
  }

  error(error: ClocheError): void {
    if (!this.#response.headersSent) {
      new CallAnswer(this.#response).error(error);
      return;
    }
    void this.#write(encodeJsonFrame(FRAME.error, toWireError(error)));
    this.#response.end();
  }

  /** Cuts the answer off, as the daemon's death would: the client goes on with the next daemon. */
  cut(): void {
    this.#response.destroy();
  }

  async #write(frame: Buffer): Promise<void> {
    const response = this.#response;
    if (response.writableEnded || response.destroyed) return;
    if (!response.headersSent) response.writeHead(200, { "content-type": STREAM_CONTENT_TYPE });
    if (response.write(frame)) return;
    await new Promise<void>((resolve) => {
      const go = () => {
        response.off("drain", go).off("close", go);
        resolve();
      };
      response.on("drain", go).on("close", go);
    });
  }
}
