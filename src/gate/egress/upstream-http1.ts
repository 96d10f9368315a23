import { Agent, type ClientRequest, type IncomingMessage, request as requestHttp } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { errnoOf } from "../../base/errors.ts";
import { ConnectionLost, UpstreamFault, reasonOf } from "./connecting.ts";
import { type HeaderList, headerValue } from "./header-list.ts";
import type { Patience } from "./patience.ts";
import {
  type OutgoingRequest,
  type UpstreamAnswer,
  type UpstreamCall,
  drained,
  writeTogether,
} from "./upstream-call.ts";
import { type Taken, UpstreamSockets } from "./upstream-sockets.ts";

const MAX_HEAD = 128 * 1024;
const LOST: ReadonlySet<string> = new Set(["ECONNRESET", "EPIPE"]);
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
    this.#sockets = new UpstreamSockets(dial, patience.silenceMs);
  }

  async call(request: OutgoingRequest): Promise<UpstreamCall> {
    const taken = await this.#sockets.take();
    const own = this.#request(request, taken);
    const answer = new Promise<UpstreamAnswer>((done, fail) => {
      this.#listen(own, taken, {
        answered: (message) => done(answerOf(message)),
        failed: fail,
        upgraded: (_message, socket) => {
          socket.destroy();
          fail(new UpstreamFault(`${this.#host} switches to another protocol without being asked`));
        },
      });
    });
    answer.catch(ignored); // told to whoever waits
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
    const taken = await this.#sockets.take();
    const own = this.#request({ ...request, headers }, taken);
    return await new Promise<{ answer: UpstreamAnswer; socket?: Duplex; head?: Buffer }>((done, fail) => {
      this.#listen(own, taken, {
        answered: (message) => done({ answer: answerOf(message) }),
        failed: fail,
        upgraded: (message, socket, head) => done({ answer: answerOf(message), socket, head }),
      });
      own.end();
    });
  }

  /** What is under way goes on to its end. */
  close(): void {
    this.#sockets.close();
  }

  #request({ method, target, headers, hasBody }: OutgoingRequest, { socket }: Taken): ClientRequest {
    const all = [...headers];
    if (headerValue(all, "connection") === undefined)
      all.push("connection", headerValue(all, "te") === undefined ? "keep-alive" : "keep-alive, TE");
    if (hasBody && headerValue(all, "content-length") === undefined) all.push("transfer-encoding", "chunked");
    return requestHttp({
      agent: this.#agent.with(socket),
      host: this.#host,
      method,
      path: target,
      headers: all as never, // name and value in turns, in their order: the types know one of the two forms
      maxHeaderSize: MAX_HEAD,
      setHost: false,
    });
  }

  /** Each event has one listener: there are many requests, and these are most of what one costs here. */
  #listen(own: ClientRequest, { socket }: Taken, told: Told): void {
    // SECURITY: an upstream that gives the head of its answer byte by byte, or words before it without end, holds nothing for ever (G-51)
    const timer = setTimeout(() => own.destroy(new Error(NO_HEAD)), this.#patience.headMs);
    let answer: IncomingMessage | undefined;
    let isUpgraded = false;
    own.on("response", (message) => {
      clearTimeout(timer);
      answer = message;
      told.answered(message);
    });
    own.on("upgrade", (message, its, head) => {
      clearTimeout(timer);
      isUpgraded = true;
      told.upgraded(message, its, head);
    });
    own.on("error", (error) => {
      clearTimeout(timer);
      told.failed(this.#fault(error));
    });
    own.on("close", () => {
      // What became a WebSocket is somebody else's.
      if (isUpgraded) this.#sockets.letGo(socket);
      else this.#sockets.give(socket, own.writableFinished && answer?.complete === true);
    });
  }

  #fault(error: Error): Error {
    if (LOST.has(errnoOf(error) ?? "")) return new ConnectionLost(`${this.#host} failed: ${reasonOf(error)}`);
    // What dialling has to say is said already.
    return error.constructor === Error || "code" in error
      ? new UpstreamFault(`${this.#host} failed: ${reasonOf(error)}`)
      : error;
  }
}

/** What became of a request. */
interface Told {
  readonly answered: (message: IncomingMessage) => void;
  readonly failed: (error: Error) => void;
  readonly upgraded: (message: IncomingMessage, socket: Duplex, head: Buffer) => void;
}

const ignored = (): void => undefined;

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
