import type { ClientHttp2Session, ClientHttp2Stream, IncomingHttpHeaders, OutgoingHttpHeaders } from "node:http2";
import type { TLSSocket } from "node:tls";
import { ConnectionLost, UpstreamFault, reasonOf } from "./connecting.ts";
import { type HeaderList, filterHeaders, headerObject } from "./header-list.ts";
import type { Patience } from "./patience.ts";
import {
  type OutgoingRequest,
  type UpstreamAnswer,
  type UpstreamCall,
  drained,
  writeTogether,
} from "./upstream-call.ts";

/** Numbers by which a stream is given up, and by which a server says that it has not looked at it. */
const CANCEL = 8;
const REFUSED_STREAM = 7;
const IDLE_MS = 60_000;
/** Of the head of an answer, as many pairs. */
const MAX_HEADER_PAIRS = 512;

/** One connection to an upstream that carries many requests. */
export class Http2Connection {
  readonly #session: ClientHttp2Session;
  readonly #host: string;
  readonly #patience: Patience;
  #streams = 0;
  #isUsed = false;

  constructor(host: string, patience: Patience, socket: TLSSocket, onClose: () => void) {
    this.#host = host;
    this.#patience = patience;
    this.#session = process.getBuiltinModule("node:http2").connect(`https://${host}`, {
      createConnection: () => socket,
      settings: { enablePush: false, initialWindowSize: 1024 * 1024 },
      maxHeaderListPairs: MAX_HEADER_PAIRS,
    });
    this.#session.setTimeout(IDLE_MS, () => {
      if (this.#streams === 0) this.#session.close();
    });
    this.#session.on("error", () => undefined); // each stream is told
    this.#session.once("close", onClose);
    this.#session.once("goaway", onClose);
  }

  get isOpen(): boolean {
    return !this.#session.closed && !this.#session.destroyed;
  }

  call({ method, target, headers, hasBody }: OutgoingRequest): UpstreamCall {
    const isReused = this.#isUsed;
    this.#isUsed = true;
    const pseudo = {
      ":method": method,
      ":path": target,
      ":scheme": "https",
      ":authority": authorityOf(headers, this.#host),
    };
    const rest = headerObject(filterHeaders(headers, (name) => name !== "host" && name !== "connection"));
    const stream = this.#open({ ...pseudo, ...rest }, !hasBody);
    this.#streams++;
    stream.setTimeout(this.#patience.silenceMs, () => stream.close(CANCEL));
    let trailers: HeaderList = [];
    stream.once("trailers", (_headers: IncomingHttpHeaders, _flags: number, raw?: string[]) => (trailers = raw ?? []));
    stream.once("close", () => this.#streams--);
    return {
      answer: this.#answer(stream, () => {
        // SECURITY: Node ends a body that was cancelled, or whose connection was cut, as if it were whole (G-51)
        if (stream.rstCode) throw new UpstreamFault(`${this.#host} broke off its answer`);
        return trailers;
      }),
      write: (...chunks) => writeTogether(stream, chunks),
      drained: () => drained(stream),
      end: (chunk) => void stream.end(chunk),
      destroy: () => stream.close(CANCEL),
      isReused,
    };
  }

  /** Takes no more requests; those under way go on to their end. */
  close(): void {
    if (this.isOpen) this.#session.close();
  }

  /** An upstream that goes away at this very moment has its requests refused here. */
  #open(headers: OutgoingHttpHeaders, endStream: boolean): ClientHttp2Stream {
    try {
      return this.#session.request(headers, { endStream });
    } catch (error) {
      throw new UpstreamFault(`${this.#host} failed: ${reasonOf(error)}`);
    }
  }

  #answer(stream: ClientHttp2Stream, trailers: () => HeaderList): Promise<UpstreamAnswer> {
    const answer = new Promise<UpstreamAnswer>((done, fail) => {
      const timer = setTimeout(() => {
        fail(new UpstreamFault(`${this.#host} did not answer in time`));
        stream.close(CANCEL);
        this.close();
      }, this.#patience.headMs);
      stream.once("close", () => clearTimeout(timer));
      stream.once("response", (headers, _flags, raw?: string[]) => {
        clearTimeout(timer);
        const status = headers[":status"] ?? 502;
        done({ status, statusMessage: "", headers: raw ?? pairsOf(headers), body: stream, trailers });
      });
      // SECURITY: after a fault of the protocol nothing more is read, and nobody is told: the next request has another connection (G-51)
      stream.once("error", (error) => {
        fail(this.#fault(stream, `failed: ${reasonOf(error)}`));
        this.close();
      });
      stream.once("close", () => fail(this.#fault(stream, "closed the request without an answer")));
    });
    answer.catch(() => undefined); // told to whoever waits
    return answer;
  }

  #fault(stream: ClientHttp2Stream, what: string): UpstreamFault {
    const isLost = !this.isOpen || stream.rstCode === REFUSED_STREAM;
    return new (isLost ? ConnectionLost : UpstreamFault)(`${this.#host} ${what}`);
  }
}

const authorityOf = (headers: HeaderList, host: string): string =>
  headers[headers.findIndex((name, at) => at % 2 === 0 && name.toLowerCase() === "host") + 1] ?? host;

const pairsOf = (headers: object): string[] =>
  Object.entries(headers as Record<string, string | string[]>).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value]).flatMap((one) => [name, one]),
  );
