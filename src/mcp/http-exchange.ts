import type { IncomingMessage, ServerResponse } from "node:http";

/** As much as the daemon takes. */
const MAX_BODY_BYTES = 24 * 1024 * 1024;

export interface HttpExchange {
  readonly request: Request;
  /** The body as JSON; undefined when there was none. */
  readonly body: unknown;
  /** Aborted when the client went away before it had the answer. */
  readonly gone: AbortSignal;
}

export class BadBody extends Error {
  readonly status: 400 | 413;

  constructor(status: 400 | 413, message: string) {
    super(message);
    this.status = status;
  }
}

/** A request of Node's server as the protocol library takes it. */
export async function toExchange(incoming: IncomingMessage, response: ServerResponse): Promise<HttpExchange> {
  const gone = new AbortController();
  response.once("close", () => {
    if (!response.writableFinished) gone.abort();
  });
  const body = await readJson(incoming);
  const headers = new Headers();
  for (const [name, value] of Object.entries(incoming.headers)) {
    for (const one of Array.isArray(value) ? value : [value ?? ""]) headers.append(name, one);
  }
  const url = new URL(incoming.url ?? "/", `http://${incoming.headers.host ?? "127.0.0.1"}`);
  return {
    // The body is passed on beside it, parsed.
    request: new Request(url, { method: incoming.method ?? "GET", headers, signal: gone.signal }),
    body,
    gone: gone.signal,
  };
}

async function readJson(incoming: IncomingMessage): Promise<unknown> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of incoming as AsyncIterable<Buffer>) {
    size += part.length;
    if (size > MAX_BODY_BYTES) throw new BadBody(413, `The body is larger than ${MAX_BODY_BYTES / 1024 / 1024} MiB`);
    parts.push(part);
  }
  if (size === 0) return undefined;
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(parts))) as unknown;
  } catch {
    throw new BadBody(400, "The body is not JSON in UTF-8");
  }
}

/** Writes an answer of the library, part by part as it comes. */
export async function sendResponse(answer: Response, response: ServerResponse): Promise<void> {
  response.writeHead(answer.status, Object.fromEntries(answer.headers));
  if (answer.body === null) {
    response.end();
    return;
  }
  response.flushHeaders();
  const reader = (answer.body as ReadableStream<Uint8Array>).getReader();
  response.once("close", () => void reader.cancel().catch(() => undefined));
  for (;;) {
    const part = await reader.read();
    if (part.done) break;
    if (!response.write(part.value))
      await new Promise((resolve) => response.once("drain", resolve).once("close", resolve));
  }
  response.end();
}
