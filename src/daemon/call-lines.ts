import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { ClocheError } from "../base/errors.ts";
import { LineSplitter } from "../base/line-splitter.ts";
import { CALLS_PATH, CALLS_PROTOCOL, type AnswerLine } from "../model/call-lines.ts";
import { failure, toWireError } from "../model/error-codes.ts";
import { isOperation, isStream } from "../model/operations.ts";
import type { Progress } from "../model/progress.ts";
import { checkVersion, performCall, type Answer, type ApiOptions } from "./perform-call.ts";
import { MAX_BODY_BYTES, tooLarge } from "./request-body.ts";
import { writePieces } from "./write-pieces.ts";
import { toFailure } from "./to-failure.ts";
import { requireFewParts } from "./json-shape.ts";

/** A connection that was upgraded to lines of JSON: one call after the other, without the cost of a request for each. */
export class CallLines implements Answer {
  readonly #options: ApiOptions;
  readonly #request: IncomingMessage;
  readonly #socket: Duplex;
  readonly #lines: LineSplitter;
  #refused = false;
  /** Came while the last answer was on its way. */
  #next: Buffer | undefined;
  #call: { readonly abort: AbortController; isAnswered: boolean } | undefined;

  constructor(options: ApiOptions, request: IncomingMessage, socket: Duplex) {
    this.#options = options;
    this.#request = request;
    this.#socket = socket;
    this.#lines = new LineSplitter({
      onLine: (line) => this.#take(line),
      maxBytes: MAX_BODY_BYTES,
      onTooLong: () => this.#refuse(tooLarge()),
    });
  }

  start(head: Buffer): void {
    const socket = this.#socket;
    socket.on("error", () => undefined); // shows as `close`
    const leave = () => this.#call?.abort.abort(new Error("the client went away"));
    socket.once("end", () => {
      leave(); // before the socket takes no more answers, or one that tells of something new would be lost
      socket.destroy(); // an HTTP server's connections stay open at this side
    });
    socket.once("close", leave);
    if (this.#request.url !== CALLS_PATH || this.#request.headers.upgrade !== CALLS_PROTOCOL) {
      socket.end("HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-length: 0\r\n\r\n");
      return;
    }
    socket.write(`HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: ${CALLS_PROTOCOL}\r\n\r\n`);
    const take = (chunk: Buffer) => {
      if (this.#refused) return;
      this.#options.connections.received(this.#peer, chunk.length);
      this.#lines.push(chunk);
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
    this.#send(toWireError(error));
  }

  async large(result: unknown): Promise<void> {
    await writePieces(this.#socket, { result });
  }

  async #flushed(): Promise<void> {
    const socket = this.#socket;
    if (socket.destroyed || socket.writableLength === 0) return;
    await new Promise<void>((resolve) => {
      socket.once("close", resolve);
      socket.write("", () => {
        socket.off("close", resolve);
        resolve();
      });
    });
  }

  #take(line: Buffer): void {
    if (!this.#call) {
      void this.#serve(line);
      return;
    }
    // SECURITY: a client that does not take its answers is not read from until it does (G-25)
    if (this.#call.isAnswered && !this.#next) {
      this.#next = line;
      this.#socket.pause();
      return;
    }
    this.#refuse(failure("INVALID_ARGUMENT", "There is a call under way on this connection"));
  }

  async #serve(line: Buffer): Promise<void> {
    const { inFlight, log, connections } = this.#options;
    if (inFlight.stopping) {
      this.#send({ refused: true });
      return;
    }
    const { abort, end } = inFlight.begin(false);
    const call = { abort, isAnswered: false };
    this.#call = call;
    const leave = connections.begin(this.#peer);
    let name = "";
    try {
      const asked = readCall(line);
      name = asked.operation;
      if (!isOperation(name) || isStream(name)) throw failure("INVALID_ARGUMENT", `There is no call "${name}"`);
      checkVersion(this.#options.version, this.#request, name);
      await performCall(this.#options, name, asked.input, { signal: abort.signal, answer: this });
    } catch (error) {
      this.error(toFailure(error, name, abort.signal, log));
    }
    connections.complete(this.#peer);
    // The client may ask again as soon as it has the answer; the call is over when all of that has left.
    if (this.#socket.writableLength > 0) {
      call.isAnswered = true;
      await this.#flushed();
    }
    this.#call = undefined;
    leave();
    end();
    const next = this.#next;
    this.#next = undefined;
    if (next === undefined || this.#socket.destroyed) return;
    this.#socket.resume();
    await this.#serve(next);
  }

  /** An upgraded connection is the one that was accepted. */
  get #peer(): Socket {
    return this.#request.socket;
  }

  /** Nothing that comes after this can be told from the rest of what was wrong. */
  #refuse(error: ClocheError): void {
    this.error(error);
    this.#refused = true;
    this.#socket.end();
  }

  #send(line: AnswerLine): void {
    if (!this.#socket.writable) return;
    this.#socket.write(`${JSON.stringify(line)}\n`);
  }
}

function readCall(line: Buffer): { operation: string; input: unknown } {
  let value: unknown;
  requireFewParts(line);
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
