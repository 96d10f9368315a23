import { Agent, type ClientRequest, type IncomingMessage, request as requestHttp } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { UpstreamFault, reasonOf } from "./connecting.ts";
import { type HeaderList, headerValue } from "./header-list.ts";
import type { Patience } from "./patience.ts";
import { type OutgoingRequest, type UpstreamAnswer, type UpstreamCall, writeTogether } from "./upstream-call.ts";
import { type Taken, UpstreamSockets } from "./upstream-sockets.ts";

const MAX_HEAD = 128 * 1024;
const NO_HEAD = "the head of its answer did not come in time";

/** Requests of HTTP/1.1 to one upstream. */
export class Http1Origin {
  readonly #host: string;
  readonly #patience: Patience;
  readonly #sockets: UpstreamSockets;
  readonly #agent = new HandedSocket();

  constructor(host: string, patience: Patience, dial: () => Promise<Socket>) {
    this.#host = host;
    this.#patience = patience;
    this.#sockets = new UpstreamSockets(dial);
  }

  async call(request: OutgoingRequest): Promise<UpstreamCall> {
    const taken = await this.#sockets.take();
    const own = this.#request(request, taken);
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
      write: (...chunks) => writeTogether(own, chunks),
      drained: () => drained(own),
      end: (chunk) => void own.end(chunk),
      destroy: () => own.destroy(),
      isReused: taken.isReused,
    };
  }

  /** Asks for a WebSocket. Resolves with the two, or with the answer of one who does not want to. */
  async upgrade(request: OutgoingRequest): Promise<{ answer: UpstreamAnswer; socket?: Duplex; head?: Buffer }> {
    const headers = [...request.headers, "connection", "Upgrade", "upgrade", "websocket"];
    const own = this.#request({ ...request, headers }, await this.#sockets.take());
    const timer = this.#limit(own);
    return await new Promise<{ answer: UpstreamAnswer; socket?: Duplex; head?: Buffer }>((done, fail) => {
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
    this.#sockets.close();
  }

  #request({ method, target, headers, hasBody }: OutgoingRequest, { socket }: Taken): ClientRequest {
    const all = [...headers];
    if (headerValue(all, "connection") === undefined) all.push("connection", "keep-alive");
    if (hasBody && headerValue(all, "content-length") === undefined) all.push("transfer-encoding", "chunked");
    const own = requestHttp({
      agent: this.#agent.with(socket),
      host: this.#host,
      method,
      path: target,
      headers: all as never, // name and value in turns, in their order: the types know one of the two forms
      maxHeaderSize: MAX_HEAD,
      setHost: false,
    });
    let answer: IncomingMessage | undefined;
    let isUpgraded = false;
    own.once("response", (message) => (answer = message));
    own.once("upgrade", () => (isUpgraded = true));
    own.once("close", () => {
      // What became a WebSocket is somebody else's.
      if (isUpgraded) this.#sockets.forget();
      else this.#sockets.give(socket, own.writableFinished && answer?.complete === true);
    });
    return own;
  }

  #fault(error: Error): Error {
    // What dialling has to say is said already.
    return error.constructor === Error || "code" in error
      ? new UpstreamFault(`${this.#host} failed: ${reasonOf(error)}`)
      : error;
  }
}

/** Gives a request the connection that was taken for it. Node's own agent would look for one, and ask about its age, each time. */
class HandedSocket extends Agent {
  #next: Socket | undefined;

  constructor() {
    super({ keepAlive: true });
  }

  with(socket: Socket): this {
    this.#next = socket;
    return this;
  }

  /** Called while the request is made. */
  addRequest(request: ClientRequest): void {
    if (this.#next) request.onSocket(this.#next);
    this.#next = undefined;
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
