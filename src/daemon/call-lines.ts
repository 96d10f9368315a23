import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import type { ClocheError } from "../base/errors.ts";
import { LineSplitter } from "../base/line-splitter.ts";
import { CALLS_PATH, CALLS_PROTOCOL, type AnswerLine } from "../model/call-lines.ts";
import { failure, toErrorDocument } from "../model/error-codes.ts";
import type { Progress } from "../model/results.ts";
import { checkVersion, isOperation, isStream, performCall, type Answer, type ApiOptions } from "./perform-call.ts";
import { MAX_BODY_BYTES, tooLarge } from "./request-body.ts";
import { toFailure } from "./to-failure.ts";

/** A connection that was upgraded to lines of JSON: one call after the other, without the cost of a request for each. */
export class CallLines implements Answer {
  readonly #options: ApiOptions;
  readonly #request: IncomingMessage;
  readonly #socket: Duplex;
  readonly #lines: LineSplitter;
  #refused = false;
  #call: { readonly abort: AbortController } | undefined;

  constructor(options: ApiOptions, request: IncomingMessage, socket: Duplex) {
    this.#options = options;
    this.#request = request;
    this.#socket = socket;
    this.#lines = new LineSplitter({
      onLine: (line) => void this.#serve(line),
      maxBytes: MAX_BODY_BYTES,
      onTooLong: () => this.#refuse(tooLarge()),
    });
  }

  start(head: Buffer): void {
    const socket = this.#socket;
    socket.on("error", () => undefined); // shows as `close`
    socket.once("end", () => socket.destroy()); // an HTTP server's connections stay open at this side
    socket.once("close", () => this.#call?.abort.abort(new Error("the client went away")));
    if (this.#request.url !== CALLS_PATH || this.#request.headers.upgrade !== CALLS_PROTOCOL) {
      socket.end("HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-length: 0\r\n\r\n");
      return;
    }
    socket.write(`HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: ${CALLS_PROTOCOL}\r\n\r\n`);
    const take = (chunk: Buffer) => {
      if (!this.#refused) this.#lines.push(chunk);
    };
    socket.on("data", take);
    if (head.length > 0) take(head);
  }

  close(): void {
    this.#socket.destroy();
  }

  progress(progress: Progress): void {
    // A client that does not read misses steps rather than make them pile up.
    if (!this.#socket.writableNeedDrain) this.#send({ progress });
  }

  result(result: unknown): void {
    this.#send({ result });
  }

  error(error: ClocheError): void {
    this.#send(toErrorDocument(error));
  }

  async #serve(line: Buffer): Promise<void> {
    const { inFlight, log } = this.#options;
    if (this.#call) {
      this.#refuse(failure("INVALID_ARGUMENT", "There is a call under way on this connection"));
      return;
    }
    if (inFlight.stopping) {
      this.#send({ refused: true });
      return;
    }
    const { abort, end } = inFlight.begin(false);
    this.#call = { abort };
    let name = "";
    try {
      const call = readCall(line);
      name = call.operation;
      if (!isOperation(name) || isStream(name)) throw failure("INVALID_ARGUMENT", `There is no call "${name}"`);
      checkVersion(this.#options.version, this.#request, name);
      await performCall(this.#options, name, call.input, { signal: abort.signal, answer: this });
    } catch (error) {
      this.error(toFailure(error, name, abort.signal, log));
    }
    // The client may ask again as soon as it has the answer; the call is over when all of that has left.
    this.#call = undefined;
    if (this.#socket.writableLength > 0 && !this.#socket.destroyed) this.#socket.write("", () => end());
    else end();
  }

  /** Nothing that comes after this can be told from the rest of what was wrong. */
  #refuse(error: ClocheError): void {
    this.error(error);
    this.#refused = true;
    this.#socket.end();
  }

  #send(line: AnswerLine): void {
    if (this.#socket.writable) this.#socket.write(`${JSON.stringify(line)}\n`);
  }
}

function readCall(line: Buffer): { operation: string; input: unknown } {
  let value: unknown;
  try {
    value = JSON.parse(line.toString("utf8"));
  } catch (error) {
    throw failure("INVALID_ARGUMENT", "Cannot read the call: it is not JSON", { cause: error });
  }
  if (typeof value === "object" && value !== null && "operation" in value && typeof value.operation === "string") {
    return { operation: value.operation, input: "input" in value ? value.input : {} };
  }
  throw failure("INVALID_ARGUMENT", 'Cannot read the call: it has no "operation"');
}
