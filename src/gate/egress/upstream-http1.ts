import { Agent, type ClientRequest, type IncomingMessage, request as requestHttp } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { UpstreamFault, reasonOf } from "./connecting.ts";
import type { HeaderList } from "./header-list.ts";
import type { Patience } from "./patience.ts";
import type { OutgoingRequest, UpstreamAnswer, UpstreamCall } from "./upstream-call.ts";

const MAX_HEAD = 128 * 1024;
const MAX_SOCKETS = 128;
const MAX_FREE_SOCKETS = 32;
/** Shorter than what servers keep one open for. */
const FREE_MS = 20_000;
/** Between two parts of an answer. */
const SILENCE_MS = 15 * 60_000;
const NO_HEAD = "the head of its answer did not come in time";

/** Connections to one upstream, kept for the next request. */
export class Http1Origin {
  readonly #agent: Agent;
  readonly #host: string;
  readonly #patience: Patience;

  constructor(host: string, patience: Patience, dial: () => Promise<Socket>) {
    this.#host = host;
    this.#patience = patience;
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
      const timer = this.#limit(own);
      own.once("response", (message) => {
        clearTimeout(timer);
        done(answerOf(message));
      });
      own.once("error", (error) => {
        clearTimeout(timer);
        fail(this.#fault(error));
      });
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
      end: (chunk) => void own.end(chunk),
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
    const timer = this.#limit(own);
    return new Promise<{ answer: UpstreamAnswer; socket?: Duplex; head?: Buffer }>((done, fail) => {
      own.once("upgrade", (message, socket, head) => done({ answer: answerOf(message), socket, head }));
      own.once("response", (message) => done({ answer: answerOf(message) }));
      own.once("error", (error) => fail(this.#fault(error)));
      own.end();
    }).finally(() => clearTimeout(timer));
  }

  /** SECURITY: an upstream that gives the head of its answer byte by byte, or words before it without end, holds nothing for ever (G-51) */
  #limit(own: ClientRequest): NodeJS.Timeout {
    return setTimeout(() => own.destroy(new Error(NO_HEAD)), this.#patience.headMs);
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
