import { createHash, randomBytes } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TestProxy, Upstream, bearer } from "../../../test/helpers/egress-proxy.ts";
import { FrameReader, frame } from "./web-socket-frames.ts";

const HOST = "ws.example.test";
const HELD = "held.example.test";
const TOKEN = `tok-${randomBytes(20).toString("hex")}`;
const SECRET = `sec-${randomBytes(20).toString("hex")}`;

let upstream: Upstream;
let proxy: TestProxy;
let received: Buffer[] = [];
let server: Duplex;
let authorization: string | undefined;

beforeAll(async () => {
  upstream = await new Upstream().listen([HOST, HELD]);
  upstream.secure.on("upgrade", (request, socket) => {
    server = socket;
    authorization = request.headers.authorization;
    const accept = createHash("sha1")
      .update(`${request.headers["sec-websocket-key"] ?? ""}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
      .digest("base64");
    expect(request.headers["sec-websocket-extensions"]).toBeUndefined();
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
    );
    let parts: Buffer[] = [];
    let isFinal = true;
    const reader = new FrameReader({
      head: (head) => (isFinal = head.isFinal),
      payload(bytes, isLast) {
        parts.push(Buffer.from(bytes));
        if (!isLast || !isFinal) return;
        received.push(Buffer.concat(parts));
        parts = [];
      },
    });
    socket.on("data", (chunk: Buffer) => reader.push(chunk));
    socket.on("error", () => undefined);
  });
  proxy = await new TestProxy({
    routes: [
      upstream.route(HOST, { credentials: [bearer(TOKEN)] }),
      upstream.route(HELD, {
        dlp: { outbound_detectors: null, inbound_detectors: [], outbound_on_match: "supervise" },
      }),
    ],
    guarded: [{ kind: "known_secrets", name: "SECRET", value: SECRET }],
  }).listen();
});

afterAll(async () => {
  await proxy[Symbol.asyncDispose]();
  await upstream[Symbol.asyncDispose]();
});

const handshake = (host: string, target: string, more = ""): string =>
  `GET ${target} HTTP/1.1\r\nHost: ${host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${randomBytes(16).toString("base64")}\r\n${more}\r\n`;

async function open(): Promise<{ socket: Socket; next: () => Promise<Buffer> }> {
  received = [];
  const socket = await proxy.secure(HOST);
  socket.write(handshake(HOST, "/chat", "Sec-WebSocket-Extensions: permessage-deflate\r\n"));
  const chunks: Buffer[] = [];
  let wake = () => undefined as unknown;
  socket.on("data", (chunk: Buffer) => {
    chunks.push(chunk);
    wake();
  });
  const next = async (): Promise<Buffer> => {
    while (chunks.length === 0) await new Promise<void>((done) => (wake = done));
    return chunks.shift() ?? Buffer.alloc(0);
  };
  expect((await next()).toString()).toMatch(/^HTTP\/1\.1 101 /);
  return { socket, next };
}

const masked = (opcode: number, payload: Buffer, isFinal = true): Buffer => {
  const plain = frame(opcode, payload, { isFinal, isMasked: true });
  const mask = randomBytes(4);
  const at = plain.length - payload.length;
  mask.copy(plain, at - 4);
  for (let index = 0; index < payload.length; index++)
    plain[at + index] = (payload[index] ?? 0) ^ (mask[index & 3] ?? 0);
  return plain;
};
const heard = async (count: number): Promise<void> => {
  for (let tries = 0; received.length < count && tries < 200; tries++)
    await new Promise((done) => setTimeout(done, 10));
};

describe("a WebSocket through the gate", () => {
  it("G-40 overwrites the credential in the answer of one who wants no WebSocket", async () => {
    const refuse = (pack: (text: string) => Buffer, coding: string) => (request: IncomingMessage, socket: Duplex) => {
      const body = pack(`you sent ${request.headers.authorization ?? ""}.`);
      socket.write(
        `HTTP/1.1 400 No ${request.headers.authorization ?? ""}\r\n${coding}Content-Length: ${body.length}\r\n\r\n`,
      );
      socket.end(body);
    };
    const [accepts] = upstream.secure.listeners("upgrade") as ((...words: unknown[]) => void)[];
    try {
      for (const refuses of [refuse((text) => Buffer.from(text), ""), refuse(gzipSync, "Content-Encoding: gzip\r\n")]) {
        upstream.secure.removeAllListeners("upgrade").on("upgrade", refuses);
        const answer = await proxy.raw(handshake(HOST, "/"), await proxy.secure(HOST));
        expect(answer).toMatch(/^HTTP\/1.1 400 [^]*you sent Bearer [^]+\.$/);
        expect(answer).not.toContain(TOKEN);
      }
    } finally {
      upstream.secure.removeAllListeners("upgrade").on("upgrade", accepts as never);
    }
  });

  it("G-104 is refused with a finding in its head, also where the operator would be asked about a request", async () => {
    authorization = "as it was";
    const answer = await proxy.raw(handshake(HELD, `/?note=${SECRET}`), await proxy.secure(HELD));
    expect(answer).toMatch(/^HTTP\/1.1 403 [^]*DLP_BLOCKED/);
    expect([authorization, answer.includes(SECRET)]).toEqual(["as it was", false]);
  });

  it("is refused where the upstream uses an extension that nobody asked for: nobody could look into its messages", async () => {
    const [accepts] = upstream.secure.listeners("upgrade") as ((...words: unknown[]) => void)[];
    upstream.secure.removeAllListeners("upgrade").on("upgrade", (_request: IncomingMessage, socket: Duplex) => {
      socket.on("error", () => undefined);
      socket.write(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Extensions: permessage-deflate\r\n\r\n",
      );
    });
    try {
      const answer = await proxy.raw(handshake(HOST, "/"), await proxy.secure(HOST));
      expect(answer).toMatch(/^HTTP\/1.1 502 [^]*UPSTREAM_FAILED.*uses an extension/);
    } finally {
      upstream.secure.removeAllListeners("upgrade").on("upgrade", accepts as never);
    }
  });

  it("carries messages both ways, of any size and in any number of frames, with the credential", async () => {
    const { socket, next } = await open();
    expect(authorization).toBe(`Bearer ${TOKEN}`);
    const large = Buffer.alloc(300_000, "lorem ipsum ");
    socket.write(masked(1, Buffer.from("hello")));
    socket.write(
      Buffer.concat([
        masked(1, Buffer.from("in "), false),
        masked(9, Buffer.from("ping")),
        masked(0, Buffer.from("parts")),
      ]),
    );
    socket.write(masked(2, large));
    await heard(4);
    expect(received.map((one) => one.length)).toEqual([5, 4, 8, 300_000]);
    expect(received[3]?.equals(large)).toBe(true);
    server.write(frame(1, Buffer.from(`you sent ${TOKEN}`)));
    const answer = (await next()).toString("latin1");
    expect(answer).toContain("you sent ***");
    socket.destroy();
  });

  it.each([
    ["in one frame", () => [masked(1, Buffer.from(`note ${SECRET}`))]],
    [
      "over several frames",
      () => [masked(1, Buffer.from(`note ${SECRET.slice(0, 20)}`), false), masked(0, Buffer.from(SECRET.slice(20)))],
    ],
    ["encoded", () => [masked(2, Buffer.from(Buffer.from(SECRET).toString("base64")))]],
    ["in a ping", () => [masked(9, Buffer.from(SECRET))]],
    ["behind a reserved bit", () => [Buffer.concat([Buffer.from([0xc1]), masked(1, Buffer.from(SECRET)).subarray(1)])]],
  ])("G-41 lets no secret out %s", async (_how, frames) => {
    const { socket, next } = await open();
    for (const one of frames()) socket.write(one);
    const close = await next();
    expect((close[0] ?? 0) & 15).toBe(8);
    await new Promise((done) => setTimeout(done, 30));
    expect(Buffer.concat(received).includes(SECRET.slice(0, 20))).toBe(false);
    socket.destroy();
  });
});
