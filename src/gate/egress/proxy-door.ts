import { type IncomingMessage, type Server, createServer } from "node:http";
import type { Duplex } from "node:stream";
import { canonicalHost } from "../../model/host-name.ts";
import { type Place, readAbsolute } from "../../policy/egress/absolute-url.ts";
import { readFirstBytes } from "../../policy/egress/client-hello.ts";
import { denied, shownHost } from "./admission.ts";
import { denialAnswer } from "./denial.ts";
import type { EgressContext } from "./egress-context.ts";
import { ExchangeRecord } from "./exchange-record.ts";
import { serveExchange } from "./exchange.ts";
import { Interception } from "./interception.ts";
import { passThrough } from "./passthrough.ts";
import { refusalBytes, refuseBytes } from "./refused-bytes.ts";
import { connectProblem, readAuthority } from "./request-facts.ts";
import { serveUpgrade } from "./web-socket.ts";

const MAX_HEAD = 64 * 1024;
const MAX_HELLO = 20_000;
const MAX_REASON = 200;

/** The proxy that a sandbox finds at its egress door: plain requests with a whole URL, and tunnels. */
export class ProxyDoor {
  readonly #context: EgressContext;
  readonly #server: Server;
  readonly #interception: Interception;

  constructor(context: EgressContext) {
    this.#context = context;
    this.#interception = new Interception(context);
    this.#server = createServer({ maxHeaderSize: MAX_HEAD, requestTimeout: 0, headersTimeout: 0 });
    this.#server.on("request", (request, response) => {
      const { place, sent } = this.#placeOf(request);
      void serveExchange(context, place, sent, request, response);
    });
    this.#server.on("checkContinue", (request, response) => {
      const { place, sent } = this.#placeOf(request);
      void serveExchange(context, place, sent, request, response, () => response.writeContinue());
    });
    this.#server.on("upgrade", (request, socket, head) => {
      const { place, sent } = this.#placeOf(request);
      void serveUpgrade(context, place, sent, request, socket, head);
    });
    this.#server.on("connect", (request, socket, head) => this.#connect(request, socket, head));
    this.#server.on("clientError", (error, socket) => refuseBytes(context, error, socket));
  }

  accept(stream: Duplex): void {
    this.#server.emit("connection", stream);
  }

  /** A connection that was meant for one host, by whoever knows no proxy. */
  acceptFor(stream: Duplex, meant: MeantHost, port: number): void {
    stream.on("error", () => stream.destroy());
    this.#tunnel(stream, meant, port);
  }

  /** What is no whole URL of a host is for no place that there is. */
  #placeOf(request: IncomingMessage): { place: Place; sent: string } {
    const url = request.url ?? "";
    return readAbsolute(url) ?? { place: { scheme: "http", host: "", port: 0 }, sent: url };
  }

  #connect(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    socket.on("error", () => socket.destroy());
    const to = readAuthority(request.url ?? "");
    const problem = to && connectProblem(to, request.rawHeaders);
    const inForce = to && this.#context.policy().find(to.host, to.port);
    if (!to || !inForce || problem !== undefined) {
      this.#refuse(socket, to ?? { host: (request.url ?? "").slice(0, 255), port: 0 }, to !== undefined, problem);
      return;
    }
    socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
    if (head.length > 0) socket.unshift(head);
    this.#tunnel(socket, () => to.host, to.port);
  }

  #refuse(socket: Duplex, to: { host: string; port: number }, isHost: boolean, problem: string | undefined): void {
    const { port } = to;
    const host = shownHost(this.#context.policy(), to.host);
    const record = new ExchangeRecord(this.#context.events, { method: "CONNECT", host, port, path: "" });
    const isListed = isHost && this.#context.policy().names(to.host);
    const message = !isHost
      ? "The gate connects to names of hosts only, with a port"
      : !isListed
        ? `The host ${host} is not listed`
        : problem === undefined
          ? `Port ${port} of ${host} is not listed`
          : `The gate does not take this request: ${problem}`;
    const { denial } = denied(record, "EGRESS_DENIED", message);
    // Before there is TLS, most tools show the first line and nothing else.
    const shown = message.replaceAll(/[^ -~]/g, "?").slice(0, MAX_REASON);
    socket.end(refusalBytes(`403 Forbidden: ${shown}`, denialAnswer(denial)));
  }

  /** What a tunnel is for shows in its first bytes. */
  #tunnel(stream: Duplex, meant: MeantHost, port: number): void {
    let seen: Buffer = Buffer.alloc(0);
    const timer = setTimeout(() => stream.destroy(), this.#context.patience.helloMs);
    const onData = (chunk: Buffer): void => {
      seen = seen.length === 0 ? chunk : Buffer.concat([seen, chunk]);
      const first = readFirstBytes(seen);
      if (first.kind === "incomplete" && seen.length < MAX_HELLO) return;
      clearTimeout(timer);
      stream.off("data", onData).off("end", onEnd);
      stream.pause();
      stream.unshift(seen);
      const host = meant(first.kind === "tls" ? first.serverName : undefined);
      if (host === undefined) this.#drop(stream, "", port);
      else if (first.kind === "plain") this.#open(stream, { scheme: "http", host, port });
      else if (first.kind === "tls" && isFor(host, first.serverName))
        this.#open(stream, { scheme: "https", host, port });
      else this.#drop(stream, host, port);
    };
    const onEnd = (): void => {
      clearTimeout(timer);
      stream.destroy();
    };
    // SECURITY: a connection that is dropped before it has said anything leaves nothing (G-52)
    stream.once("close", () => clearTimeout(timer));
    stream.on("data", onData).once("end", onEnd);
  }

  #open(stream: Duplex, place: Place): void {
    const inForce = this.#context.policy().find(place.host, place.port);
    if (!inForce) this.#drop(stream, place.host, place.port);
    // SECURITY: what goes to the host of a repository is looked into, so that no push passes unread (G-92)
    else if (inForce.route.tls === "intercept" || this.#context.gitDoors(place.host) !== undefined) {
      if (place.scheme === "http") this.#interception.servePlain(stream, place);
      else this.#interception.serveSecure(stream, place);
    } else if (place.scheme === "https") void passThrough(this.#context, stream, place, inForce);
    else this.#drop(stream, place.host, place.port);
  }

  /** SECURITY: a handshake for another name than the one that was connected to ends here, and is told (G-38) */
  #drop(stream: Duplex, host: string, port: number): void {
    const record = new ExchangeRecord(this.#context.events, { method: "CONNECT", host, port, path: "" });
    denied(record, "EGRESS_DENIED", "What is in the tunnel is not for its host");
    stream.destroy();
  }
}

/** Undefined when nobody knows; the name in the handshake may help. */
export type MeantHost = (serverName: string | undefined) => string | undefined;

/** Without a name the host that was connected to is meant. */
const isFor = (host: string, serverName: string | undefined): boolean =>
  serverName === undefined || canonicalHost(serverName) === host;
