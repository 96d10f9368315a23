import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { FrameReader, frame } from "../../../src/gate/egress/web-socket-frames.ts";
import { Upstream, type Seen } from "../egress-proxy.ts";
import type { ModelRequest, ToolOutcome } from "./model-wire.ts";
import { answerModel } from "./scripted-api.ts";
import { saying, type Script, ScriptedModel, wireAt } from "./scripted-model.ts";

const TEXT = 1;
const CLOSE = 8;
const PING = 9;

/** A vendor's API over TLS that plays scripts: HTTP of both versions with streams of events, and WebSockets. What no model answers is answered with a word. */
export class ScriptedUpstream implements AsyncDisposable {
  /** The one that plays now. */
  model = new ScriptedModel(saying("Nothing is scripted"));
  /** Of every WebSocket that was opened. */
  readonly opened: IncomingMessage["headers"][] = [];
  /** What came over WebSockets. */
  readonly messages: string[] = [];
  acceptsWebSockets = true;
  readonly #upstream = new Upstream();

  static async start(hosts: readonly string[]): Promise<ScriptedUpstream> {
    const one = new ScriptedUpstream();
    const { upstream } = one;
    upstream.handler = (request, response, body) => {
      const isPost = request.method === "POST" && wireAt(new URL(request.url ?? "/", "http://model").pathname);
      const parsed: unknown = isPost ? JSON.parse(body.toString()) : undefined;
      answerModel(one.model, { path: request.url ?? "/", body: parsed }, response as ServerResponse);
    };
    await upstream.listen(hosts);
    upstream.secure.on("upgrade", (request, socket) => one.#converse(request, socket));
    return one;
  }

  get upstream(): Upstream {
    return this.#upstream;
  }

  play(script: Script): ScriptedModel {
    this.#upstream.seen.length = 0;
    this.opened.length = 0;
    this.messages.length = 0;
    this.model = new ScriptedModel(script);
    return this.model;
  }

  /** What a route of a bottle says, so that its host is this server. */
  route(folder: string): { connect: string; ca: string } {
    const ca = `${folder}/upstream.pem`;
    writeFileSync(ca, this.#upstream.keys.certificate);
    return { connect: `127.0.0.1:${this.#upstream.port}`, ca };
  }

  /** Everything that has come, head and body. */
  get received(): string {
    const whole = (one: Seen) => `${one.method} ${one.url}\n${one.rawHeaders.join("\n")}\n${one.body.toString()}`;
    return [...this.#upstream.seen.map(whole), ...this.opened.map((one) => JSON.stringify(one)), ...this.messages].join(
      "\n",
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#upstream[Symbol.asyncDispose]();
  }

  #converse(request: IncomingMessage, socket: Duplex): void {
    const path = new URL(request.url ?? "/", "http://model").pathname;
    const wire = wireAt(path);
    socket.on("error", () => undefined);
    if (!wire || !this.acceptsWebSockets) {
      socket.end("HTTP/1.1 426 Upgrade Required\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
      return;
    }
    this.opened.push(request.headers);
    const accept = createHash("sha1")
      .update(`${request.headers["sec-websocket-key"] ?? ""}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
      .digest("base64");
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
    );
    const turns = new Turns();
    readMessages(socket, (opcode, payload) => {
      if (opcode === PING) socket.write(frame(PING + 1, payload));
      else if (opcode === CLOSE) socket.end(frame(CLOSE, payload));
      else if (opcode <= 2) {
        this.messages.push(payload.toString());
        for (const [, data] of this.model.answer(wire, turns.whole(wire.read(JSON.parse(payload.toString())))))
          socket.write(frame(TEXT, Buffer.from(JSON.stringify(data))));
      }
    });
  }
}

/** A connection sends what is new: what it has sent before counts too. */
class Turns {
  readonly #outcomes = new Map<string, ToolOutcome>();
  #tools: ModelRequest["tools"] = [];

  whole(read: ModelRequest): ModelRequest {
    for (const [id, outcome] of read.outcomes) this.#outcomes.set(id, outcome);
    if (read.tools.length > 0) this.#tools = read.tools;
    return { ...read, tools: this.#tools, outcomes: new Map(this.#outcomes) };
  }
}

function readMessages(socket: Duplex, take: (opcode: number, payload: Buffer) => void): void {
  let parts: Buffer[] = [];
  let kind = 0;
  let head = { opcode: 0, isFinal: true };
  const reader = new FrameReader({
    head: ({ opcode, isFinal }) => {
      head = { opcode, isFinal };
      if (opcode !== 0 && opcode < CLOSE) kind = opcode;
    },
    payload(bytes, isLast) {
      if (head.opcode >= CLOSE) {
        if (isLast) take(head.opcode, Buffer.from(bytes));
        return;
      }
      parts.push(Buffer.from(bytes));
      if (!isLast || !head.isFinal) return;
      const whole = Buffer.concat(parts);
      parts = [];
      take(kind, whole);
    },
  });
  socket.on("data", (chunk: Buffer) => reader.push(chunk));
}
