import { Agent, type ClientRequest, type IncomingMessage, request as requestHttp } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { UpstreamFault, reasonOf } from "./connecting.ts";
import { type HeaderList, headerPairs } from "./header-list.ts";
import type { OutgoingRequest, UpstreamAnswer, UpstreamCall } from "./upstream-call.ts";

const MAX_HEAD = 128 * 1024;
const MAX_SOCKETS = 128;
const MAX_FREE_SOCKETS = 32;
/** Shorter than what servers keep one open for. */
const FREE_MS = 20_000;
/** A model may think for that long before its first word. */
const SILENCE_MS = 15 * 60_000;

/** Connections to one upstream, kept for the next request. */
export class Http1Origin {
  readonly #agent: Agent;
  readonly #host: string;

  constructor(host: string, dial: () => Promise<Socket>) {
    this.#host = host;
    this.#agent = new Agent({
      keepAlive: true,
      maxSockets: MAX_SOCKETS,
      maxFreeSockets: MAX_FREE_SOCKETS,
      scheduling: "lifo",
      timeout: FREE_MS,
    });
    this.#agent.createConnection = (_options: unknown, done: (error: Error | null, socket: Duplex) => void) => {
      dial().then(
        (socket) => done(null, socket),
        (error: unknown) => done(error as Error, undefined as unknown as Duplex),
      );
      return undefined;
    };
  }

  call(request: OutgoingRequest): UpstreamCall {
    const own = this.#request(request);
    const answer = new Promise<UpstreamAnswer>((done, fail) => {
      own.once("response", (message) => done(answerOf(message)));
      own.once("error", (error) => fail(this.#fault(error)));
      own.once("upgrade", (_message, socket) => {
        socket.destroy();
        fail(new UpstreamFault(`${this.#host} switches to another protocol without being asked`));
      });
    });
    answer.catch(() => undefined); // told to whoever waits
    return {
      answer,
      write: (chunk) => own.write(chunk),
      drained: () => drained(own),
      end(chunk, trailers = []) {
        if (trailers.length > 0) own.addTrailers(headerPairs(trailers));
        own.end(chunk);
      },
      destroy: () => own.destroy(),
      get isReused() {
        return own.reusedSocket;
      },
    };
  }

  /** Asks for a WebSocket. Resolves with the two, or with the answer of one who does not want to. */
  upgrade(request: OutgoingRequest): Promise<{ answer: UpstreamAnswer; socket?: Duplex; head?: Buffer }> {
    const headers = [...request.headers, "connection", "Upgrade", "upgrade", "websocket"];
    const own = this.#request({ ...request, headers });
    return new Promise((done, fail) => {
      own.once("upgrade", (message, socket, head) => done({ answer: answerOf(message), socket, head }));
      own.once("response", (message) => done({ answer: answerOf(message) }));
      own.once("error", (error) => fail(this.#fault(error)));
      own.end();
    });
  }

  /** What is under way goes on to its end. */
  close(): void {
    Object.assign(this.#agent, { keepAlive: false });
    for (const sockets of Object.values(this.#agent.freeSockets)) for (const socket of sockets ?? []) socket.destroy();
  }

  #request({ method, target, headers, hasBody }: OutgoingRequest): ClientRequest {
    const all = [...headers];
    if (!all.some((name, at) => at % 2 === 0 && name.toLowerCase() === "connection"))
      all.push("connection", "keep-alive");
    const isFramed = all.some((name, at) => at % 2 === 0 && name.toLowerCase() === "content-length");
    if (hasBody && !isFramed) all.push("transfer-encoding", "chunked");
    const own = requestHttp({
      agent: this.#agent,
      host: this.#host,
      method,
      path: target,
      headers: all as never, // name and value in turns, in their order: the types know one of the two forms
      maxHeaderSize: MAX_HEAD,
      setHost: false,
    });
    own.setTimeout(SILENCE_MS, () => own.destroy(new Error("it was silent for too long")));
    own.setNoDelay(true);
    return own;
  }

  #fault(error: Error): Error {
    // What dialling has to say is said already.
    return error.constructor === Error || "code" in error
      ? new UpstreamFault(`${this.#host} failed: ${reasonOf(error)}`)
      : error;
  }
}

function answerOf(message: IncomingMessage): UpstreamAnswer {
  return {
    status: message.statusCode ?? 502,
    statusMessage: message.statusMessage ?? "",
    headers: message.rawHeaders,
    body: message,
    trailers: (): HeaderList => message.rawTrailers,
  };
}

const drained = (stream: ClientRequest): Promise<void> =>
  new Promise((done) => {
    if (stream.destroyed) done();
    const settle = () => {
      stream.off("drain", settle).off("close", settle);
      done();
    };
    stream.once("drain", settle).once("close", settle);
  });
