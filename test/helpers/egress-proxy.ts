import { X509Certificate } from "node:crypto";
import {
  type IncomingMessage,
  type ServerResponse,
  createServer as createHttp,
  request as requestHttp,
} from "node:http";
import {
  type Http2ServerRequest,
  type Http2ServerResponse,
  connect as connectHttp2,
  createSecureServer,
} from "node:http2";
import { type AddressInfo, type Server, type Socket, connect, createServer } from "node:net";
import { createServer as createHttps } from "node:https";
import { type TLSSocket, type TlsOptions, connect as connectTls } from "node:tls";
import { silentLog } from "../../src/base/log.ts";
import { EgressGate } from "../../src/gate/egress/egress-gate.ts";
import { PATIENCE, type Patience } from "../../src/gate/egress/patience.ts";
import { Authority, newAuthority } from "../../src/gate/tls/authority.ts";
import type { EgressOrder, GateRoute } from "../../src/model/egress-order.ts";
import type { EgressEvent } from "../../src/model/gate-control.ts";

type Handler = (
  request: IncomingMessage | Http2ServerRequest,
  response: ServerResponse | Http2ServerResponse,
  body: Buffer,
) => void;

export interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage["headers"];
  readonly rawHeaders: string[];
  readonly body: Buffer;
  readonly complete: boolean;
  readonly version: string;
}

const SUBJECT = "upstream";

/** A server that the gate sends requests to: HTTPS of both versions, and plain HTTP. */
export class Upstream implements AsyncDisposable {
  readonly keys = newAuthority(SUBJECT);
  readonly seen: Seen[] = [];
  handler: Handler = (request, response) => {
    (response as ServerResponse).end(`upstream saw ${request.method ?? ""} ${request.url ?? ""}\n`);
  };
  readonly #servers: Server[] = [];
  port = 0;
  plainPort = 0;
  /** Raw connections of the secure port, after the handshake, for what is no HTTP. */
  readonly sockets = new Set<Socket>();

  async listen(hosts: readonly string[], { alpn = true }: { alpn?: boolean } = {}): Promise<this> {
    const authority = new Authority(SUBJECT, this.keys);
    const SNICallback: TlsOptions["SNICallback"] = (name, done) =>
      done(null, authority.context(hosts.includes(name) ? name : "wrong.example"));
    // The server of HTTP/2 offers that, whatever it is told.
    const secure = alpn ? createSecureServer({ allowHTTP1: true, SNICallback }) : createHttps({ SNICallback });
    const plain = createHttp();
    for (const server of [secure, plain]) {
      server.on("request", (request: IncomingMessage, response: ServerResponse) => this.#take(request, response));
      server.on("connection", (socket: Socket) => {
        this.sockets.add(socket);
        socket.once("close", () => this.sockets.delete(socket));
      });
      this.#servers.push(server);
    }
    this.secure = secure as never;
    this.plain = plain;
    this.port = await listening(secure);
    this.plainPort = await listening(plain);
    return this;
  }

  secure!: ReturnType<typeof createHttp>;
  plain!: ReturnType<typeof createHttp>;

  #take(request: IncomingMessage, response: ServerResponse): void {
    const parts: Buffer[] = [];
    const keep = (complete: boolean) =>
      this.seen.push({
        method: request.method ?? "",
        url: request.url ?? "",
        headers: request.headers,
        rawHeaders: request.rawHeaders,
        body: Buffer.concat(parts),
        complete,
        version: request.httpVersion,
      });
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      keep(true);
      this.handler(request, response, Buffer.concat(parts));
    });
    request.on("error", () => undefined);
    request.on("close", () => {
      if (!request.readableEnded) keep(false);
    });
  }

  route(host: string, more: Partial<GateRoute> = {}): GateRoute {
    return routeFor(host, { connect: `127.0.0.1:${this.port}`, ca: this.keys.certificate, ...more });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await Promise.all(this.#servers.map((server) => new Promise((done) => server.close(done))));
  }
}

export const listening = (server: Server): Promise<number> =>
  new Promise((done) => server.listen(0, "127.0.0.1", () => done((server.address() as AddressInfo).port)));

export function routeFor(host: string, more: Partial<GateRoute> = {}): GateRoute {
  return {
    host,
    ports: [443, 80],
    connect: null,
    ca: null,
    tls: "intercept",
    matches: null,
    credentials: [],
    pass: [],
    dlp: { outbound_detectors: null, inbound_detectors: [], outbound_on_match: "block" },
    provider: null,
    ...more,
  };
}

export const bearer = (token: string | null, more: object = {}): GateRoute["credentials"][number] => ({
  name: "API_TOKEN",
  token,
  scheme: "Bearer",
  header: null,
  query: null,
  renewable: false,
  problem: null,
  ...more,
});

export interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly trailers: IncomingMessage["trailers"];
  readonly body: Buffer;
  readonly text: string;
}

/** The gate's proxy on a port of this host, in place of a sandbox's door. */
export class TestProxy implements AsyncDisposable {
  readonly events: EgressEvent[] = [];
  readonly gate: EgressGate;
  readonly #server: Server;
  port = 0;

  constructor(order?: Partial<EgressOrder>, patience: Partial<Patience> = {}) {
    const take = () => {
      const next = this.gate.events.after(0, 100);
      if (!next) return;
      for (const event of next.events) if ("is_logged" in event) this.events.push(event);
      this.gate.events.heard(next.through);
    };
    const told = { onEvent: () => setImmediate(take), onWant: () => undefined };
    this.gate = new EgressGate(silentLog, undefined, told, { ...PATIENCE, ...patience });
    if (order) this.obey(order);
    this.#server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
      socket.on("error", () => socket.destroy());
      this.gate.accept(socket);
    });
  }

  obey(order: Partial<EgressOrder>): void {
    this.gate.obey({ log: "all", routes: [], guarded: [], way_out: { proxy: null, ca: null }, ...order });
  }

  async listen(): Promise<this> {
    this.port = await listening(this.#server);
    return this;
  }

  /** A tunnel through the gate, as it is after CONNECT; rejects with the refusal's status. */
  async tunnel(authority: string): Promise<Socket> {
    const socket = connect(this.port, "127.0.0.1");
    socket.on("error", () => undefined);
    socket.write(`CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n\r\n`);
    const head = await new Promise<string>((done) => socket.once("data", (chunk: Buffer) => done(chunk.toString())));
    if (head.startsWith("HTTP/1.1 200")) return socket;
    socket.destroy();
    throw Object.assign(new Error(head.split("\r\n")[0]), { head });
  }

  async secure(
    host: string,
    options: { servername?: string; protocols?: string[]; port?: number } = {},
  ): Promise<TLSSocket> {
    const socket = await this.tunnel(`${host}:${options.port ?? 443}`);
    const tls = connectTls({
      socket,
      servername: options.servername ?? host,
      ca: [this.gate.keys.certificate],
      ALPNProtocols: options.protocols ?? ["http/1.1"],
    });
    await new Promise<void>((done, fail) =>
      tls
        .once("secureConnect", done)
        .once("error", fail)
        .once("close", () => fail(new Error("closed"))),
    );
    tls.on("error", () => undefined);
    return tls;
  }

  /** One request of HTTP/1.1 in a tunnel. */
  async ask(
    url: string,
    options: {
      method?: string;
      headers?: Record<string, string> | string[];
      body?: Buffer | string;
      socket?: Socket;
    } = {},
  ): Promise<Answer> {
    const { hostname, pathname, search } = new URL(url);
    const socket = options.socket ?? (await this.secure(hostname));
    const request = requestHttp({
      createConnection: () => socket,
      method: options.method ?? (options.body === undefined ? "GET" : "POST"),
      path: url.slice(url.indexOf(hostname) + hostname.length) || pathname + search,
      headers: (options.headers ?? {
        host: hostname,
        ...(options.body !== undefined && { "content-length": Buffer.byteLength(options.body) }),
      }) as never,
      setHost: !options.headers || !Object.keys(options.headers).some((name) => name.toLowerCase() === "host"),
    });
    if (options.headers && !Array.isArray(options.headers) && !("host" in options.headers))
      request.setHeader("host", hostname);
    request.end(options.body);
    return await answerTo(request);
  }

  /** One plain request to the proxy. */
  async plain(
    url: string,
    options: { method?: string; headers?: Record<string, string>; body?: string } = {},
  ): Promise<Answer> {
    const request = requestHttp({
      host: "127.0.0.1",
      port: this.port,
      method: options.method ?? "GET",
      path: url,
      headers: { host: new URL(url).host, ...options.headers },
      agent: false,
    });
    request.end(options.body);
    return await answerTo(request);
  }

  /** Bytes as they are, and all that comes back until the end or a moment of silence. */
  async raw(bytes: string | Buffer, socket: Socket = connect(this.port, "127.0.0.1")): Promise<string> {
    socket.on("error", () => undefined);
    socket.write(bytes);
    const parts: Buffer[] = [];
    return await new Promise((done) => {
      let timer = setTimeout(() => socket.destroy(), 1500);
      socket.on("data", (chunk: Buffer) => {
        parts.push(chunk);
        clearTimeout(timer);
        timer = setTimeout(() => socket.destroy(), 300);
      });
      socket.once("close", () => {
        clearTimeout(timer);
        done(Buffer.concat(parts).toString("latin1"));
      });
      socket.once("end", () => socket.destroy());
    });
  }

  async http2(host: string): Promise<ReturnType<typeof connectHttp2>> {
    const socket = await this.secure(host, { protocols: ["h2"] });
    if (socket.alpnProtocol !== "h2") throw new Error("no HTTP/2");
    const session = connectHttp2(`https://${host}`, { createConnection: () => socket });
    session.on("error", () => undefined);
    return session;
  }

  certificate(): X509Certificate {
    return new X509Certificate(this.gate.keys.certificate);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await new Promise((done) => {
      this.#server.close(done);
      setTimeout(done, 200);
    });
  }
}

function answerTo(request: ReturnType<typeof requestHttp>): Promise<Answer> {
  return new Promise((done, fail) => {
    request.once("error", fail);
    request.once("response", (response) => {
      const parts: Buffer[] = [];
      response.on("data", (part: Buffer) => parts.push(part));
      response.once("error", fail);
      response.once("end", () => {
        const body = Buffer.concat(parts);
        done({
          status: response.statusCode ?? 0,
          headers: response.headers,
          trailers: response.trailers,
          body,
          text: body.toString(),
        });
      });
    });
  });
}
