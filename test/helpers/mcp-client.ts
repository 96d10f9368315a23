import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { createInterface } from "node:readline";
import { join } from "node:path";
import { expect } from "vitest";
import { PROJECT, type Installation } from "./installation.ts";

export interface Answer {
  id?: number | string | null;
  result?: Record<string, unknown>;
  error?: { code: number; message: string; data?: unknown };
}

export interface ToolAnswer {
  isError?: boolean;
  structuredContent: Record<string, unknown>;
  content: { type: string; text: string }[];
}

export interface ToolListing {
  name: string;
  description: string;
  inputSchema: { type: string; properties: Record<string, unknown>; required?: string[] };
  outputSchema: { type: string; properties: Record<string, unknown> };
  annotations: Record<string, boolean>;
}

interface Options {
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  /** Of node itself, before the program. */
  readonly node?: readonly string[];
}

/** `cloche mcp serve` as a host starts it, spoken to in lines. Everything that it says on stdout is kept. */
export class McpClient {
  readonly process: ChildProcessWithoutNullStreams;
  readonly lines: string[] = [];
  readonly notifications: { method: string; params: Record<string, unknown> }[] = [];
  readonly ended: Promise<number | null>;
  stderr = "";
  #next = 1;
  readonly #waiting = new Map<unknown, (answer: Answer) => void>();

  constructor(at: Installation, flags: readonly string[] = [], options: Options = {}) {
    const program = join(PROJECT, "dist/cli/main.js");
    this.process = spawn(process.execPath, [...(options.node ?? []), program, "mcp", "serve", ...flags], {
      cwd: options.cwd ?? at.root,
      env: { ...at.env, ...options.env },
      stdio: "pipe",
    });
    this.process.stdin.on("error", () => undefined);
    this.process.stderr.on("data", (chunk: Buffer) => (this.stderr += chunk.toString()));
    createInterface({ input: this.process.stdout }).on("line", (line) => this.#take(line));
    this.ended = new Promise((resolve) => this.process.once("close", resolve));
  }

  #take(line: string): void {
    this.lines.push(line);
    const message = JSON.parse(line) as Answer & { method?: string; params?: Record<string, unknown> };
    if (message.method !== undefined) this.notifications.push({ method: message.method, params: message.params ?? {} });
    else this.#waiting.get(message.id)?.(message);
  }

  raw(line: string | Buffer): void {
    this.process.stdin.write(line);
    this.process.stdin.write("\n");
  }

  notify(method: string, params: object = {}): void {
    this.raw(JSON.stringify({ jsonrpc: "2.0", method, params }));
  }

  /** The number of the request, and its answer. */
  begin(method: string, params: object = {}): { id: number; answer: Promise<Answer> } {
    const id = this.#next++;
    const answer = this.answerTo(id);
    this.raw(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
    return { id, answer };
  }

  async ask(method: string, params: object = {}): Promise<Answer> {
    return await this.begin(method, params).answer;
  }

  answerTo(id: unknown): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, resolve);
      void this.ended.then(() => reject(new Error(`the server ended: ${this.stderr}`)));
    });
  }

  async open(): Promise<Record<string, unknown>> {
    const clientInfo = { name: "test", version: "1" };
    const { result } = await this.ask("initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo });
    this.notify("notifications/initialized");
    return result!;
  }

  async tools(): Promise<ToolListing[]> {
    return (await this.ask("tools/list")).result!["tools"] as ToolListing[];
  }

  /** A tool's answer, whether it is an error or not. */
  async tool(name: string, args: object = {}): Promise<ToolAnswer> {
    const { result, error } = await this.ask("tools/call", { name, arguments: args });
    if (error) throw new Error(`${name}: ${error.message}`);
    return result as unknown as ToolAnswer;
  }

  /** The structured content of a call that has to succeed. */
  async call(name: string, args: object = {}): Promise<Record<string, unknown>> {
    const answer = await this.tool(name, args);
    expect(answer.isError, `${name}: ${JSON.stringify(answer)}`).toBeUndefined();
    return answer.structuredContent;
  }

  /** The error of a call that has to fail. */
  async fails(name: string, args: object = {}): Promise<{ code: string; message: string; hint: string }> {
    const answer = await this.tool(name, args);
    expect(answer.isError, `${name}: ${JSON.stringify(answer)}`).toBe(true);
    const error = answer.structuredContent["error"] as { code: string; message: string; hint: string };
    expect(answer.content[0]?.text).toBe(`error ${error.code}: ${error.message}\nhint: ${error.hint}`);
    return error;
  }

  async create(args: object = {}): Promise<string> {
    return (await this.call("workspace_create", args))["workspace_id"] as string;
  }

  /** As a host does it: the end of its input tells the server to go. */
  async close(): Promise<void> {
    this.process.stdin.end();
    expect(await this.ended, this.stderr).toBe(0);
  }
}

/** A server for the length of a test. All it said has to be JSON-RPC. */
export async function withMcp<Result>(
  at: Installation,
  flags: readonly string[],
  work: (client: McpClient) => Promise<Result>,
  options: Options = {},
): Promise<Result> {
  const client = new McpClient(at, flags, options);
  try {
    await client.open();
    const result = await work(client);
    await client.close();
    for (const line of client.lines) expect(JSON.parse(line)).toMatchObject({ jsonrpc: "2.0" });
    return result;
  } finally {
    client.process.kill("SIGKILL");
  }
}
