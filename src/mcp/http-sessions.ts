import { randomUUID } from "node:crypto";
import {
  isInitializeRequest,
  WebStandardStreamableHTTPServerTransport,
  type McpServer,
} from "@modelcontextprotocol/server";
import { onAbort } from "../base/on-abort.ts";
import type { HttpExchange } from "./http-exchange.ts";

/** A client that says nothing for so long has gone without a word. */
const IDLE_MS = 30 * 60 * 1000;
const MAX_SESSIONS = 100;

interface Session {
  readonly transport: WebStandardStreamableHTTPServerTransport;
  readonly server: McpServer;
  exchanges: number;
  idle: NodeJS.Timeout | undefined;
}

/** The sessions of clients that open with `initialize`: each has a server of its own, until it leaves or falls silent. */
export class HttpSessions {
  readonly #sessions = new Map<string, Session>();
  readonly #onChange: () => void;

  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  get count(): number {
    return this.#sessions.size;
  }

  /** `build` makes the server of a new session; what it throws is the caller's to tell. */
  async serve(exchange: HttpExchange, build: () => McpServer): Promise<Response> {
    const { request, body } = exchange;
    const id = request.headers.get("mcp-session-id");
    const session = id === null ? undefined : this.#sessions.get(id);
    if (session) return await this.#exchange(session, exchange);
    if (id !== null) return problem(404, -32_001, "Session not found");
    if (request.method !== "POST" || !messagesOf(body).some(isInitializeRequest)) {
      return problem(400, -32_000, "Bad Request: open a session with initialize, and send its Mcp-Session-Id");
    }
    return await this.#exchange(await this.#open(build()), exchange);
  }

  async close(): Promise<void> {
    await Promise.allSettled([...this.#sessions.values()].map(({ server }) => server.close()));
  }

  async #open(server: McpServer): Promise<Session> {
    const transport: WebStandardStreamableHTTPServerTransport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (id) => {
        this.#sessions.set(id, session);
        if (this.#sessions.size > MAX_SESSIONS) this.#dropQuietest();
        this.#onChange();
      },
    });
    const session: Session = { transport, server, exchanges: 0, idle: undefined };
    await server.connect(transport);
    const { onclose } = transport;
    transport.onclose = () => {
      onclose?.();
      clearTimeout(session.idle);
      if (transport.sessionId !== undefined) this.#sessions.delete(transport.sessionId);
      this.#onChange();
    };
    return session;
  }

  async #exchange(session: Session, { request, body, gone }: HttpExchange): Promise<Response> {
    clearTimeout(session.idle);
    session.exchanges++;
    onAbort(gone, () => cancelAll(session.transport, body));
    try {
      return await session.transport.handleRequest(request, body === undefined ? {} : { parsedBody: body });
    } finally {
      session.exchanges--;
      session.idle = setTimeout(() => void session.server.close(), IDLE_MS).unref();
    }
  }

  /** A map keeps the order of insertion. */
  #dropQuietest(): void {
    const quiet = [...this.#sessions.values()].find(({ exchanges }) => exchanges === 0);
    void quiet?.server.close();
  }
}

const messagesOf = (body: unknown): unknown[] => (Array.isArray(body) ? body : [body]);

/** An answer that nobody waits for can never be fetched again, so its work ends; the workspace stays. */
function cancelAll(transport: WebStandardStreamableHTTPServerTransport, body: unknown): void {
  for (const message of messagesOf(body)) {
    if (typeof message !== "object" || message === null || !("id" in message) || !("method" in message)) continue;
    const params = { requestId: message.id as string | number, reason: "the client went away" };
    transport.onmessage?.({ jsonrpc: "2.0", method: "notifications/cancelled", params });
  }
}

export function problem(status: number, code: number, message: string): Response {
  return Response.json({ jsonrpc: "2.0", id: null, error: { code, message } }, { status });
}
