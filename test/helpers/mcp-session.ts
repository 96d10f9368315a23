import { InMemoryTransport } from "@modelcontextprotocol/server";
import { createServer } from "../../src/mcp/create-server.ts";
import type { ServerOptions } from "../../src/mcp/server-options.ts";
import type { Installation } from "./installation.ts";
import { type Answer, McpClient, type ToolAnswer } from "./mcp-client.ts";
import { endpointOf, HttpSession } from "./mcp-http.ts";

export const TRANSPORTS = ["stdio", "http", "embedded"] as const;
export type Transport = (typeof TRANSPORTS)[number];

/** A session with the MCP server, whichever way it is reached. */
export class McpSession implements AsyncDisposable {
  readonly #ask: (method: string, params: object) => Promise<Answer>;
  readonly #close: () => Promise<unknown>;

  private constructor(ask: (method: string, params: object) => Promise<Answer>, close: () => Promise<unknown>) {
    this.#ask = ask;
    this.#close = close;
  }

  static async open(transport: Transport, at: Installation, options: ServerOptions = {}): Promise<McpSession> {
    const open = { stdio: openStdio, http: openHttp, embedded: openEmbedded }[transport];
    const { ask, close } = await open(at, options);
    return new McpSession(ask, close);
  }

  async ask(method: string, params: object = {}): Promise<Answer> {
    return await this.#ask(method, params);
  }

  async tool(name: string, args: object = {}): Promise<ToolAnswer> {
    const { result, error } = await this.#ask("tools/call", { name, arguments: args });
    if (error) throw new Error(`${name}: ${error.message}`);
    return result as unknown as ToolAnswer;
  }

  async call(name: string, args: object = {}): Promise<Record<string, unknown>> {
    const answer = await this.tool(name, args);
    if (answer.isError) throw new Error(`${name}: ${JSON.stringify(answer.structuredContent)}`);
    return answer.structuredContent;
  }

  /** The error of a call that has to fail; undefined when it did not. */
  async refusal(name: string, args: object = {}): Promise<{ code: string; message: string; hint: string } | undefined> {
    const { structuredContent, isError } = await this.tool(name, args);
    return isError ? (structuredContent["error"] as { code: string; message: string; hint: string }) : undefined;
  }

  async create(args: object = {}): Promise<string> {
    return (await this.call("workspace_create", args))["workspace_id"] as string;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#close();
  }
}

type Opened = { ask: (method: string, params: object) => Promise<Answer>; close: () => Promise<unknown> };

async function openStdio(at: Installation, options: ServerOptions): Promise<Opened> {
  const flags = Object.entries(options).flatMap(([name, value]) => {
    const flag = `--${name.replaceAll("_", "-")}`;
    if (value === true) return [flag];
    return (Array.isArray(value) ? value : [value]).flatMap((one) => [flag, String(one)]);
  });
  const client = new McpClient(at, flags);
  await client.open();
  return { ask: (method, params) => client.ask(method, params), close: () => client.close() };
}

async function openHttp(at: Installation, options: ServerOptions): Promise<Opened> {
  const { url, token } = await endpointOf(at);
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(options)) {
    for (const one of Array.isArray(value) ? value : [value]) query.append(name, String(one));
  }
  const session = await HttpSession.open({ url: `${url}?${query.toString()}`, token });
  return {
    ask: async (method, params) => (await session.ask(method, params)).at(-1) as Answer,
    close: () => session.leave(),
  };
}

async function openEmbedded(at: Installation, options: ServerOptions): Promise<Opened> {
  await at.sdk.listWorkspaces(); // starts the daemon
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  // Not the checkout that the tests run in.
  const none = options.project_path === undefined && options.repo_url === undefined;
  const server = createServer({ ...(none && { no_project_source: true }), ...options, home: at.home });
  const waiting = new Map<unknown, (answer: Answer) => void>();
  ours.onmessage = (message) => {
    const answer = message as unknown as Answer;
    waiting.get(answer.id)?.(answer);
  };
  await server.connect(theirs);
  await ours.start();
  let next = 1;
  const ask = (method: string, params: object) =>
    new Promise<Answer>((resolve) => {
      const id = next++;
      waiting.set(id, resolve);
      void ours.send({ jsonrpc: "2.0", id, method, params } as never);
    });
  const clientInfo = { name: "t", version: "1" };
  await ask("initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo });
  return { ask, close: () => server.close() };
}
