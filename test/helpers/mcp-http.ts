import { createServer, request as httpRequest, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import type { Installation } from "./installation.ts";

export interface Endpoint {
  readonly url: string;
  readonly token: string;
}

export async function endpointOf(at: Installation): Promise<Endpoint> {
  await at.sdk.listWorkspaces(); // starts the daemon
  const { mcp_url: url, mcp_token: token } = await at.sdk.daemonStatus();
  if (url === null || token === null) throw new Error("the daemon serves no MCP");
  return { url, token };
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** One request with exactly these headers; `fetch` would not let a test choose Host and Origin. */
export function send(
  url: string,
  options: { method?: string; headers?: Record<string, string>; body?: string | Buffer; signal?: AbortSignal } = {},
): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    const { method = "POST", headers = {}, signal } = options;
    const request = httpRequest(url, { method, headers, agent: false, ...(signal && { signal }) }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (part: string) => (text += part));
      response.once("end", () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }));
      response.once("error", reject);
    });
    request.once("error", reject);
    request.end(options.body);
  });
}

const INITIALIZE = {
  jsonrpc: "2.0",
  id: 0,
  method: "initialize",
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "1" } },
};

/** A client with a session, as hosts of the 2025 revisions have it. */
export class HttpSession {
  readonly #url: string;
  readonly #headers: Record<string, string>;
  #next = 1;

  private constructor(url: string, headers: Record<string, string>) {
    this.#url = url;
    this.#headers = headers;
  }

  static async open({ url, token }: Endpoint): Promise<HttpSession> {
    const headers = {
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
    };
    const answer = await send(url, { headers, body: JSON.stringify(INITIALIZE) });
    const id = answer.headers["mcp-session-id"];
    if (answer.status !== 200 || typeof id !== "string") throw new Error(`no session: ${answer.status} ${answer.text}`);
    return new HttpSession(url, { ...headers, "mcp-session-id": id, "mcp-protocol-version": "2025-06-18" });
  }

  async post(message: object, signal?: AbortSignal): Promise<HttpAnswer> {
    const body = JSON.stringify({ jsonrpc: "2.0", ...message });
    return await send(this.#url, { headers: this.#headers, body, ...(signal && { signal }) });
  }

  /** The messages of the answer, the last of which is the response. */
  async ask(method: string, params: object = {}, signal?: AbortSignal): Promise<Record<string, unknown>[]> {
    const { text } = await this.post({ id: this.#next++, method, params }, signal);
    const events = [...text.matchAll(/^data: (.+)$/gm)].map((match) => match[1] ?? "");
    return (events.length > 0 ? events : [text]).map((one) => JSON.parse(one) as Record<string, unknown>);
  }

  async call(name: string, args: object = {}): Promise<Record<string, unknown>> {
    const answer = (await this.ask("tools/call", { name, arguments: args })).at(-1);
    const result = answer?.["result"] as { isError?: boolean; structuredContent: Record<string, unknown> } | undefined;
    if (!result || result.isError) throw new Error(JSON.stringify(answer));
    return result.structuredContent;
  }

  async leave(): Promise<number> {
    return (await send(this.#url, { method: "DELETE", headers: this.#headers })).status;
  }
}

/** Adds the token to requests of a client that can send none. Everything else passes as it is, the name it was asked under included. */
export async function withTokenProxy<Result>(
  endpoint: Endpoint,
  work: (url: string) => Promise<Result>,
): Promise<Result> {
  const target = new URL(endpoint.url);
  const own = /^((?:http:\/\/)?)(?:127\.0\.0\.1|localhost):\d+$/;
  const server = createServer((incoming, outgoing) => {
    const headers: IncomingHttpHeaders = { ...incoming.headers, authorization: `Bearer ${endpoint.token}` };
    for (const name of ["host", "origin"] as const) {
      const value = headers[name];
      if (value !== undefined) headers[name] = value.replace(own, `$1${target.host}`);
    }
    const passed = httpRequest(target, { method: incoming.method ?? "GET", headers }, (response) => {
      outgoing.writeHead(response.statusCode ?? 500, response.headers);
      response.pipe(outgoing);
    });
    passed.once("error", () => outgoing.destroy());
    outgoing.once("close", () => passed.destroy());
    incoming.pipe(passed);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    return await work(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}
