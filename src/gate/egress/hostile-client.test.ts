import { createServer } from "node:net";
import { type TLSSocket, connect as connectTls } from "node:tls";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TestProxy, Upstream, listening } from "../../../test/helpers/egress-proxy.ts";
import {
  CONTINUATION,
  END_HEADERS,
  END_STREAM,
  HEADERS,
  PING,
  SETTINGS,
  WINDOW_UPDATE,
  frame,
  header,
  number,
  reset,
} from "../../../test/helpers/http2-frames.ts";

const HOST = "api.example.test";
const MIB = 1024 * 1024;
/** What a test writes at most; what is in the buffers of sockets is a part of it. */
const MOST = 64 * MIB;
const CANCEL = 8;
const PATIENCE_MS = 3000;
/** GET, https and / from the table that everybody has, and the host. */
const HEAD = Buffer.concat([Buffer.from([0x82, 0x87, 0x84]), header(":authority", HOST)]);
/** A header of 4,000 bytes that the table is to keep, and then a word of one byte for it. */
const BOMB = Buffer.concat([
  Buffer.from([0x40, 1]),
  Buffer.from("a"),
  Buffer.from([0x7f, 0xa1, 0x1e]),
  Buffer.alloc(4000, "a"),
]);
const AGAIN = Buffer.alloc(16_000, 0xbe);

let upstream: Upstream;
let proxy: TestProxy;

beforeAll(async () => {
  upstream = await new Upstream().listen([HOST]);
  proxy = await new TestProxy({ routes: [upstream.route(HOST)] }).listen();
});

afterAll(async () => {
  await proxy[Symbol.asyncDispose]();
  await upstream[Symbol.asyncDispose]();
});

async function open(): Promise<TLSSocket> {
  const socket = await proxy.secure(HOST, { protocols: ["h2"] });
  socket.on("error", () => undefined).resume();
  socket.write(Buffer.concat([Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), frame(SETTINGS, 0, 0)]));
  return socket;
}

/** Writes one after the other until the gate has enough, or all is written. */
async function flood(socket: TLSSocket, next: (count: number) => Buffer): Promise<void> {
  let written = 0;
  const over = AbortSignal.timeout(PATIENCE_MS);
  for (let count = 0; written < MOST && !socket.destroyed && !over.aborted; count++) {
    const bytes = next(count);
    written += bytes.length;
    if (socket.write(bytes)) continue;
    await new Promise<void>((done) => {
      const timer = setTimeout(done, PATIENCE_MS);
      const go = () => {
        clearTimeout(timer);
        socket.off("drain", go).off("close", go);
        done();
      };
      socket.on("drain", go).on("close", go);
    });
  }
}

const NOTHING = Buffer.alloc(0);
/** The gate ends a connection that breaks the rules of HTTP/2; what keeps to them is read, as fast as it comes. */
const BREAKS_RULES = [
  "a head that goes on and on",
  "a head that goes on with nothing",
  "settings",
  "a window without end",
];
const stream = (count: number): number => 2 * count + 1;

const FLOODS: readonly (readonly [string, (count: number) => Buffer, Buffer])[] = [
  [
    "requests that are reset at once",
    (count) =>
      Buffer.concat([frame(HEADERS, END_HEADERS | END_STREAM, stream(count), HEAD), reset(stream(count), CANCEL)]),
    NOTHING,
  ],
  [
    "a head that goes on and on",
    () => frame(CONTINUATION, 0, 1, header("x-a", "b".repeat(100))),
    frame(HEADERS, 0, 1, HEAD),
  ],
  ["a head that goes on with nothing", () => frame(CONTINUATION, 0, 1), frame(HEADERS, 0, 1, HEAD)],
  ["settings", () => frame(SETTINGS, 0, 0, Buffer.concat([Buffer.from([0, 4]), number(65_535)])), NOTHING],
  ["pings", () => frame(PING, 0, 0, Buffer.alloc(8)), NOTHING],
  ["frames for requests that are over", () => reset(1, CANCEL), frame(HEADERS, END_HEADERS | END_STREAM, 1, HEAD)],
  ["a window without end", () => frame(WINDOW_UPDATE, 0, 0, number(0x7fffffff)), NOTHING],
  [
    "small words for large headers",
    (count) =>
      count === 0
        ? frame(HEADERS, END_HEADERS | END_STREAM, 1, Buffer.concat([HEAD, BOMB]))
        : frame(HEADERS, END_HEADERS | END_STREAM, stream(count), Buffer.concat([HEAD, AGAIN])),
    NOTHING,
  ],
];

describe("G-149 a client of HTTP/2 that sends without end", () => {
  it.each(FLOODS)("%s costs the gate little, and nobody else anything", async (what, next, first) => {
    upstream.seen.length = 0;
    const socket = await open();
    const before = process.memoryUsage().rss;
    socket.write(first);
    await flood(socket, next);
    if (BREAKS_RULES.includes(what)) expect(socket.destroyed).toBe(true);
    socket.destroy();
    expect(process.memoryUsage().rss - before).toBeLessThan(150 * MIB);
    expect(upstream.seen.length).toBeLessThan(2000);
    expect((await proxy.ask(`https://${HOST}/after`)).status).toBe(200);
  });

  it("many requests has 128 of them served at once, and the others after these", async () => {
    const session = await proxy.http2(HOST);
    const ready: (() => void)[] = [];
    upstream.handler = (_request, response) => void ready.push(() => (response as { end(): void }).end());
    const statuses = Array.from(
      { length: 400 },
      () =>
        new Promise<number>((done) => {
          const request = session.request({ ":path": "/" });
          request.once("response", (headers) => done(headers[":status"] ?? 0)).resume();
          request.once("error", () => done(0));
        }),
    );
    // It keeps to what it was told.
    await expect.poll(() => ready.length).toBe(128);
    for (let done = 0; done < 400;) {
      const some = ready.splice(0);
      done += some.length;
      for (const one of some) one();
      await new Promise((wait) => setTimeout(wait, 5));
    }
    expect(new Set(await Promise.all(statuses))).toEqual(new Set([200]));
    session.destroy();
  });
});

it("G-28 ends a tunnel in which nobody says anything, or begins a handshake and does not go on", async () => {
  const hasty = await new TestProxy({ routes: [upstream.route(HOST)] }, { helloMs: 300 }).listen();
  // Of a handshake the first message, which the gate answers.
  const hello = await new Promise<Buffer>((done) => {
    const server = createServer((socket) => void socket.once("data", (bytes: Buffer) => done(bytes)));
    void listening(server).then((port) => {
      const asking = connectTls({ port, host: "127.0.0.1", servername: HOST }).on("error", () => server.close());
      server.once("connection", (socket) => socket.once("data", () => asking.destroy()));
    });
  });
  for (const bytes of [Buffer.alloc(0), hello.subarray(0, 20), hello]) {
    const socket = await hasty.tunnel(`${HOST}:443`);
    const over = new Promise((done) => socket.resume().once("close", done));
    socket.write(bytes);
    await over;
  }
  await hasty[Symbol.asyncDispose]();
});

it("G-28 reads no head beyond measure, in a tunnel and to the proxy", async () => {
  const head = (target: string) => `GET ${target} HTTP/1.1\r\nhost: ${HOST}\r\nx-long: ${"y".repeat(70_000)}\r\n\r\n`;
  expect(await proxy.raw(head("/"), await proxy.secure(HOST))).toMatch(/^HTTP\/1.1 400 /);
  expect(await proxy.raw(head(`https://${HOST}/`))).toMatch(/^HTTP\/1.1 400 /);
});
