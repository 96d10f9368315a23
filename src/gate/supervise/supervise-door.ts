import { type IncomingMessage, type Server, type ServerResponse, createServer } from "node:http";
import type { Duplex } from "node:stream";
import { messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { Relayed } from "../relay-connection.ts";
import { idOf, readMessage, RPC_CODES, RpcError, type RpcId } from "./json-rpc.ts";
import { answerRequest, type ServedTools } from "./mcp-server.ts";

const PATH = "/mcp";
const MAX_HEAD = 16 * 1024;
/** All that can be asked for at once fits in it many times. */
const MAX_BODY = 256 * 1024;
/** For a body to come. */
const BODY_MS = 30_000;
/** Calls that wait for an answer, and bodies that are being read. */
const MAX_EXCHANGES = 32;

/**
 * The supervise door of a sandbox: MCP over HTTP, one answer to each request. Written by hand, because the protocol's library would be half as large again as the
 * whole gate (docs/decisions/0050-what-an-agent-asks.md).
 */
export class SuperviseDoor {
  readonly #log: Log;
  readonly #served: Omit<ServedTools, "canChangeEnvironment">;
  readonly #server: Server;
  /** As the last order has it. */
  #canChangeEnvironment = false;
  #exchanges = 0;

  constructor(log: Log, served: Omit<ServedTools, "canChangeEnvironment">) {
    this.#log = log;
    this.#served = served;
    this.#server = createServer({ maxHeaderSize: MAX_HEAD, requestTimeout: 0, headersTimeout: 0 });
    this.#server.on("request", (request, response) => void this.#serve(request, response));
    this.#server.on("clientError", (_error, socket: Duplex) => {
      if (socket.writable) socket.end("HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-length: 0\r\n\r\n");
      else socket.destroy();
    });
  }

  accept(stream: Duplex, canChangeEnvironment: boolean): Relayed {
    this.#canChangeEnvironment = canChangeEnvironment;
    this.#server.emit("connection", stream);
    const over = new Promise<void>((done) => stream.once("close", done));
    return { over, destroy: () => stream.destroy() };
  }

  /** Never rejects. */
  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.on("error", () => undefined); // shows as `close` too
    const refusal = refusalOf(request);
    if (refusal) {
      refuse(request, response, refusal);
      return;
    }
    // SECURITY: a sandbox that asks for much at once takes no more of the gate than that (G-106)
    if (this.#exchanges >= MAX_EXCHANGES) {
      refuse(request, response, { status: 503, text: "Too many calls wait. Call again when one of them has ended" });
      return;
    }
    this.#exchanges++;
    const gone = new AbortController();
    response.once("close", () => gone.abort());
    try {
      await this.#answer(request, response, gone.signal);
    } catch (error) {
      response.destroy();
      if (!gone.signal.aborted) this.#log.warn("a call of supervise failed", { reason: messageOf(error) });
    } finally {
      this.#exchanges--;
    }
  }

  async #answer(request: IncomingMessage, response: ServerResponse, gone: AbortSignal): Promise<void> {
    let id: RpcId | null = null;
    try {
      const body = await readJson(request);
      id = idOf(body);
      const message = readMessage(body);
      if (message.kind === "notice") {
        response.writeHead(202, { "content-length": 0 });
        response.end();
        return;
      }
      const served = { ...this.#served, canChangeEnvironment: this.#canChangeEnvironment };
      const result = await answerRequest(served, message, request.headers, gone);
      send(request, response, 200, { jsonrpc: "2.0", id: message.id, result });
    } catch (error) {
      if (gone.aborted) throw error;
      if (!(error instanceof RpcError)) this.#log.warn("a call of supervise failed", { reason: messageOf(error) });
      const { status, code, message, data } =
        error instanceof RpcError ? error : new RpcError(RPC_CODES.internal, "The gate could not do it");
      const told = { code, message, ...(data !== undefined && { data }) };
      send(request, response, status, { jsonrpc: "2.0", id, error: told });
    }
  }
}

interface Refusal {
  readonly status: number;
  readonly text: string;
}

/** What is not of the protocol at all. */
function refusalOf({ method, url, headers }: IncomingMessage): Refusal | undefined {
  if ((url ?? "").split("?", 1)[0] !== PATH) return { status: 404, text: `The MCP server is at ${PATH}` };
  // SECURITY: no page in a browser of the sandbox asks in the agent's name (G-106)
  if (headers.origin !== undefined && !/^https?:\/\/(?:127\.0\.0\.1|localhost)(?::\d{1,5})?$/.test(headers.origin))
    return { status: 403, text: "No page of a web site may ask here" };
  if (method !== "POST") return { status: 405, text: "Each message is a POST, and its answer is the response" };
  if (!/^application\/json\s*(?:;|$)/i.test(headers["content-type"] ?? ""))
    return { status: 415, text: "A message is application/json" };
  return undefined;
}

function refuse(request: IncomingMessage, response: ServerResponse, { status, text }: Refusal): void {
  send(request, response, status, { jsonrpc: "2.0", id: null, error: { code: RPC_CODES.refused, message: text } });
}

function send(request: IncomingMessage, response: ServerResponse, status: number, answer: object): void {
  const body = Buffer.from(JSON.stringify(answer));
  const isRead = request.complete;
  response.writeHead(status, {
    "content-type": "application/json",
    "content-length": body.length,
    "cache-control": "no-store",
    ...(status === 405 && { allow: "POST" }),
    ...(!isRead && { connection: "close" }),
  });
  response.end(body);
  if (!isRead) request.resume();
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  const body = await readBody(request);
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body)) as unknown;
  } catch {
    throw new RpcError(RPC_CODES.parse, "The body is not JSON in UTF-8", { status: 400 });
  }
}

function readBody(request: IncomingMessage): Promise<Buffer> {
  return new Promise((done, fail) => {
    const parts: Buffer[] = [];
    let size = 0;
    const late = setTimeout(() => request.destroy(new Error("its body did not come in time")), BODY_MS);
    request.on("data", (part: Buffer) => {
      size += part.length;
      // SECURITY: what is read is bounded before it is parsed (G-106)
      if (size <= MAX_BODY) parts.push(part);
      else fail(new RpcError(RPC_CODES.invalidRequest, `A message has at most ${MAX_BODY} bytes`, { status: 413 }));
    });
    request.once("end", () => done(Buffer.concat(parts)));
    request.once("error", fail);
    request.once("close", () => {
      clearTimeout(late);
      fail(new Error("the client went away"));
    });
  });
}
