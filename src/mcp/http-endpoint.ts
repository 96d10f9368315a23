import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { createMcpHandler, isLegacyRequest, type McpHttpHandler } from "@modelcontextprotocol/server";
import { descriptorLimit } from "../base/descriptor-limit.ts";
import { isClocheError, messageOf } from "../base/errors.ts";
import type { Cloche } from "../sdk/cloche.ts";
import { CallsUnderWay } from "./calls-under-way.ts";
import { BadBody, sendResponse, toExchange } from "./http-exchange.ts";
import { refuse, type Refusal, refuseUser, tokenOf, WRONG_TOKEN } from "./http-guard.ts";
import { optionsFrom } from "./http-options.ts";
import { HttpSessions, problem } from "./http-sessions.ts";
import { buildServer } from "./mcp-server.ts";
import { chooseParts, forSession, type ServerParts } from "./server-options.ts";
import { Strangers } from "./strangers.ts";

export interface EndpointOptions {
  readonly cloche: Cloche;
  readonly port: number;
  /** Any of them lets a client in. */
  readonly tokens: readonly string[];
  /** Called when a client comes or goes. */
  readonly onChange: () => void;
}

const MAX_CHOICES = 100;
/** Connections that have not shown the token. */
const MAX_STRANGERS = 512;
/** How long a connection may take to send the headers that show it. */
const HEADERS_MS = 10_000;

/** The server over Streamable HTTP: both for clients that open a session and for those that send each request with all it needs. */
export class HttpEndpoint implements AsyncDisposable {
  readonly server: Server;
  readonly #options: EndpointOptions;
  readonly #calls = new CallsUnderWay();
  readonly #sessions: HttpSessions;
  /** By what was chosen in the address. */
  readonly #choices = new Map<string, { readonly parts: ServerParts; readonly handler: McpHttpHandler }>();
  readonly #strangers = new Strangers(Math.min(MAX_STRANGERS, Math.floor(descriptorLimit() / 4)));
  /** Connections that have shown a token, and which. */
  readonly #known = new Map<Socket, string>();
  #tokens: readonly string[];
  #exchanges = 0;

  constructor(options: EndpointOptions) {
    this.#options = options;
    this.#tokens = options.tokens;
    this.#sessions = new HttpSessions(options.onChange);
    this.server = createServer(
      { headersTimeout: HEADERS_MS, connectionsCheckingInterval: HEADERS_MS / 4 },
      (request, response) => void this.#serve(request, response),
    );
    // A command may run for a day before its answer comes.
    this.server.requestTimeout = 0;
    this.server.timeout = 0;
  }

  /** From now on these let a client in. Who came by another is disconnected, and what it asked for ends. */
  setTokens(tokens: readonly string[]): void {
    this.#tokens = tokens;
    // SECURITY: a token that was revoked serves nobody, also not those who are connected (G-34)
    for (const [socket, token] of this.#known) if (!tokens.includes(token)) socket.destroy();
  }

  /** A connection; nothing is known of its client yet. */
  take(socket: Socket): void {
    this.#strangers.add(socket);
    this.server.emit("connection", socket);
    socket.resume();
  }

  /** Whether somebody is served. */
  get isActive(): boolean {
    return this.#exchanges > 0 || this.#sessions.count > 0;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#sessions.close();
    for (const { handler, parts } of this.#choices.values()) {
      await handler.close();
      await parts.source[Symbol.asyncDispose]();
    }
    await this.#calls.settled();
    this.server.closeAllConnections();
  }

  async #serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    response.on("error", () => undefined); // shows as `close` too
    const { socket } = incoming;
    let refusal = refuse(incoming, this.#options.port, this.#tokens);
    if (!refusal) {
      // SECURITY: to ask whose connection it is takes longer than others take to fill the room of strangers; a client that has shown a token does not go for them (G-24)
      this.#strangers.delete(socket);
      refusal = await this.#refuseUser(socket);
    }
    // Asked last, because it may have been revoked meanwhile.
    const token = tokenOf(incoming.headers, this.#tokens);
    if (refusal || token === undefined) {
      this.#refuse(response, refusal ?? WRONG_TOKEN);
      return;
    }
    this.#know(socket, token);
    this.#exchanges++;
    this.#options.onChange();
    try {
      await sendResponse(await this.#answer(incoming, response), response);
    } catch {
      response.destroy(); // the client went away
    } finally {
      this.#exchanges--;
      this.#options.onChange();
    }
  }

  /** Asked once for each connection: it stays with its process. */
  async #refuseUser(socket: Socket): Promise<Refusal | undefined> {
    return this.#known.has(socket) ? undefined : await refuseUser(socket);
  }

  #know(socket: Socket, token: string): void {
    if (!this.#known.has(socket)) socket.once("close", () => this.#known.delete(socket));
    this.#known.set(socket, token);
  }

  #refuse(response: ServerResponse, { status, message }: Refusal): void {
    const challenge = status === 401 ? { "www-authenticate": "Bearer" } : {};
    response.writeHead(status, { "content-type": "text/plain", connection: "close", ...challenge });
    response.end(`${message}\n`);
  }

  async #answer(incoming: IncomingMessage, response: ServerResponse): Promise<Response> {
    try {
      const exchange = await toExchange(incoming, response);
      const { request, body } = exchange;
      const { parts, handler } = this.#choose(new URL(request.url).searchParams);
      if (await isLegacyRequest(request, body)) {
        return await this.#sessions.serve(exchange, () =>
          buildServer(forSession(parts, this.#options.cloche), this.#calls),
        );
      }
      return await handler.fetch(request, body === undefined ? {} : { parsedBody: body });
    } catch (error) {
      if (error instanceof BadBody) return problem(error.status, -32_700, error.message);
      if (isClocheError(error)) return problem(400, -32_602, `${error.message}. ${error.hint}`);
      return problem(500, -32_603, messageOf(error));
    }
  }

  #choose(query: URLSearchParams): { readonly parts: ServerParts; readonly handler: McpHttpHandler } {
    const key = query.toString();
    const known = this.#choices.get(key);
    if (known) return known;
    // There is no folder that it was started in, so a project has to be named.
    const parts = chooseParts(optionsFrom(query), undefined, this.#options.cloche);
    const handler = createMcpHandler(() => buildServer(parts, this.#calls), { legacy: "reject" });
    const chosen = { parts, handler };
    if (this.#choices.size < MAX_CHOICES) this.#choices.set(key, chosen);
    return chosen;
  }
}
