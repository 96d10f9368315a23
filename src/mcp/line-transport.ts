import type { Readable } from "node:stream";
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/server";

/** Room for a file of 16 MiB, escaped, as the daemon takes it. */
const MAX_LINE_BYTES = 24 * 1024 * 1024;
const NEWLINE = 10;

/** Standard JSON-RPC codes, here as numbers: the library's own need its whole table. */
const PARSE_ERROR = -32_700;
const INVALID_REQUEST = -32_600;

/**
 * One JSON message a line, both ways. What is no message is answered with an error and not the end: text that is no JSON, bytes that are no UTF-8, a line
 * without end. Nothing is decoded leniently, because a command with a replacement character in it is another command.
 */
export class LineTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  /** Resolves when the other side has gone, or `close` was called. */
  readonly ended: Promise<void>;
  #tellEnd!: () => void;
  readonly #input: Readable;
  readonly #write: (line: string) => Promise<void>;
  #held: Buffer[] = [];
  #heldBytes = 0;
  #dropping = false;
  #closed = false;

  /** `write` resolves when there is room for more, and rejects when nobody reads. */
  constructor(input: Readable, write: (line: string) => Promise<void>) {
    this.#input = input;
    this.#write = write;
    this.ended = new Promise((resolve) => {
      this.#tellEnd = resolve;
    });
  }

  start(): Promise<void> {
    this.#input.on("data", this.#take);
    this.#input.once("end", this.#end).once("close", this.#end).once("error", this.#end);
    return Promise.resolve();
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (!this.#closed) await this.#write(`${JSON.stringify(message)}\n`);
  }

  close(): Promise<void> {
    this.#end();
    return Promise.resolve();
  }

  readonly #end = (): void => {
    if (this.#closed) return;
    this.#closed = true;
    this.#input.off("data", this.#take);
    this.#input.pause();
    this.onclose?.();
    this.#tellEnd();
  };

  readonly #take = (chunk: Buffer): void => {
    let rest = chunk;
    for (let end = rest.indexOf(NEWLINE); end >= 0 && !this.#closed; end = rest.indexOf(NEWLINE)) {
      this.#hold(rest.subarray(0, end));
      this.#lineEnds();
      rest = rest.subarray(end + 1);
    }
    this.#hold(rest);
  };

  #hold(bytes: Buffer): void {
    if (bytes.length === 0 || this.#dropping) return;
    this.#heldBytes += bytes.length;
    if (this.#heldBytes > MAX_LINE_BYTES) {
      this.#held = [];
      this.#dropping = true;
    } else this.#held.push(bytes);
  }

  #lineEnds(): void {
    const line = Buffer.concat(this.#held);
    const dropped = this.#dropping;
    this.#held = [];
    this.#heldBytes = 0;
    this.#dropping = false;
    if (dropped) this.#refuse(INVALID_REQUEST, `The message is larger than ${MAX_LINE_BYTES / 1024 / 1024} MiB`);
    else if (line.length > 0) this.#parse(line);
  }

  #parse(line: Buffer): void {
    let text: string;
    try {
      text = new TextDecoder("utf-8", { fatal: true }).decode(line).trim();
    } catch {
      this.#refuse(PARSE_ERROR, "The message is not UTF-8");
      return;
    }
    if (text === "") return;
    let message: unknown;
    try {
      message = JSON.parse(text);
    } catch {
      this.#refuse(PARSE_ERROR, "The message is not JSON");
      return;
    }
    if (isMessage(message)) this.onmessage?.(message);
    else this.#refuse(INVALID_REQUEST, "The message is no JSON-RPC 2.0");
  }

  /** There is no id to answer to. */
  #refuse(code: number, message: string): void {
    const answer = { jsonrpc: "2.0", id: null, error: { code, message } };
    this.#write(`${JSON.stringify(answer)}\n`).catch(() => this.#end());
  }
}

function isMessage(value: unknown): value is JSONRPCMessage {
  if (typeof value !== "object" || value === null || !("jsonrpc" in value) || value.jsonrpc !== "2.0") return false;
  if ("method" in value) return typeof value.method === "string" && (!("id" in value) || isId(value.id));
  return "id" in value && isId(value.id) && ("result" in value || "error" in value);
}

const isId = (id: unknown): boolean => typeof id === "string" || typeof id === "number";
