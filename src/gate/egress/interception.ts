import { type Server, createServer as createHttp } from "node:http";
import type { Http2Server } from "node:http2";
import type { Duplex } from "node:stream";
import { TLSSocket } from "node:tls";
import { canonicalHost } from "../../model/host-name.ts";
import type { EgressContext } from "./egress-context.ts";
import { serveExchange } from "./exchange.ts";
import { ignoreHttp2Offer } from "./plain-http2-offer.ts";
import { refuseBytes } from "./refused-bytes.ts";
import type { Place } from "./request-facts.ts";
import { serveUpgrade } from "./web-socket.ts";

const MAX_HEAD = 64 * 1024;
const KEPT_MS = 5 * 60_000;
const MAX_STREAMS = 128;
const MAX_SESSION_MIB = 16;
/** Each with its length before it. */
const PROTOCOLS = Buffer.from("\x02h2\x08http/1.1", "latin1");
/** The git gate speaks no other. */
const PLAIN_PROTOCOL = Buffer.from("\x08http/1.1", "latin1");

/** Serves what is in a tunnel, in the place of the host that it leads to. */
export class Interception {
  readonly #context: EgressContext;
  readonly #places = new WeakMap<object, Place>();
  readonly #http: Server;
  #http2: Http2Server | undefined;

  constructor(context: EgressContext) {
    this.#context = context;
    this.#http = createHttp({
      maxHeaderSize: MAX_HEAD,
      keepAliveTimeout: KEPT_MS,
      requestTimeout: 0,
      headersTimeout: 0,
    });
    this.#http.on("request", (request, response) => {
      const place = this.#placeOf(request.socket);
      if (place) void serveExchange(context, place, request.url ?? "", request, response);
    });
    this.#http.on("checkContinue", (request, response) => {
      const place = this.#placeOf(request.socket);
      if (place)
        void serveExchange(context, place, request.url ?? "", request, response, () => response.writeContinue());
    });
    this.#http.on("upgrade", (request, socket, head) => {
      const place = this.#placeOf(request.socket);
      if (place?.scheme === "http" && ignoreHttp2Offer(this.#http, request, socket, head)) return;
      if (place) void serveUpgrade(context, place, request.url ?? "", request, socket, head);
    });
    this.#http.on("connect", (_request, socket) => socket.end("HTTP/1.1 403 Forbidden\r\nconnection: close\r\n\r\n"));
    this.#http.on("clientError", (error, socket) => refuseBytes(context, error, socket, this.#placeOf(socket)));
  }

  /** Plain HTTP in a tunnel, or at a door that stands for one host. */
  servePlain(stream: Duplex, place: Place): void {
    this.#places.set(stream, place);
    this.#http.emit("connection", stream);
    stream.resume(); // it was stopped while its first bytes were looked at
  }

  /** TLS in a tunnel, ended here under a certificate of the gate's own authority. */
  serveSecure(stream: Duplex, place: Place): void {
    const authority = this.#context.authority();
    const secure = new TLSSocket(stream, {
      isServer: true,
      secureContext: authority.context(place.host),
      ALPNProtocols: (this.#context.gitDoors(place.host) === undefined ? PROTOCOLS : PLAIN_PROTOCOL) as never, // as they are in a handshake: the types know the form that a server takes
      // SECURITY: a handshake for another name than the one that was connected to ends there (G-38)
      SNICallback: (name, done) => {
        if (canonicalHost(name) === place.host) done(null, authority.context(place.host));
        else done(new Error("the handshake names another host"));
      },
    });
    // SECURITY: as every server of HTTPS has it: a client that drops its connection leaves no half of it behind (G-52)
    secure.allowHalfOpen = false;
    const timer = setTimeout(() => secure.destroy(), this.#context.patience.helloMs);
    const end = () => {
      clearTimeout(timer);
      stream.destroy();
    };
    secure.once("error", end);
    secure.once("close", end);
    secure.once("secure", () => {
      clearTimeout(timer);
      this.#places.set(secure, place);
      if (secure.alpnProtocol === "h2") this.#serveHttp2(secure, place);
      else this.#http.emit("connection", secure);
    });
  }

  #serveHttp2(secure: TLSSocket, place: Place): void {
    const server = (this.#http2 ??= this.#newHttp2());
    server.once("session", (session) => this.#places.set(session, place));
    // Of a socket that no server of TLS has made nobody else says that it is ready.
    Object.assign(secure, { secureConnecting: false });
    server.emit("connection", secure);
  }

  /** When the first one speaks it: most agents do not, and what serves it takes memory. */
  #newHttp2(): Http2Server {
    const server = process.getBuiltinModule("node:http2").createServer({
      settings: {
        maxConcurrentStreams: MAX_STREAMS,
        enableConnectProtocol: false,
        maxHeaderListSize: MAX_HEAD,
        initialWindowSize: 1024 * 1024,
      },
      maxSessionMemory: MAX_SESSION_MIB,
    });
    server.on("request", (request, response) => {
      const place = request.stream.session && this.#placeOf(request.stream.session);
      if (place) void serveExchange(this.#context, place, request.url, request, response);
    });
    server.on("sessionError", () => undefined);
    return server;
  }

  #placeOf(socket: object): Place | undefined {
    return this.#places.get(socket);
  }
}
