import { randomBytes } from "node:crypto";
import type { ServerResponse } from "node:http";
import { type Socket, connect, createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TestProxy, Upstream, bearer, listening, routeFor } from "../../../test/helpers/egress-proxy.ts";

const HOST = "hostile.example.test";
const TLS_HOST = "tls.example.test";
const WRONG = "another.example.test";
const PACKED = "packed.example.test";
const TALKS = "talks.example.test";
const PLAIN = "plain.example.test";
const TOKEN = `tok-${randomBytes(20).toString("hex")}`;
const HEAD_MS = 2_000;

/** What the upstream does with a connection, once a request has come. */
let answer: (socket: Socket) => void = (socket) => socket.end();
let written = 0;
const server = createServer((socket) => {
  socket.on("error", () => undefined);
  socket.once("data", () => answer(socket));
});
let upstream: Upstream;
let proxy: TestProxy;

beforeAll(async () => {
  upstream = await new Upstream().listen([PACKED, TALKS]);
  const hostile = `127.0.0.1:${await listening(server)}`;
  proxy = await new TestProxy(
    {
      routes: [
        routeFor(HOST, { connect: hostile }),
        routeFor(TLS_HOST, { connect: hostile }),
        upstream.route(WRONG),
        upstream.route(PACKED, { credentials: [bearer(TOKEN)] }),
        upstream.route(TALKS),
        routeFor(PLAIN, { connect: `127.0.0.1:${upstream.plainPort}` }),
      ],
    },
    { headMs: HEAD_MS, halfClosedMs: 200 },
  ).listen();
});

afterAll(async () => {
  await proxy[Symbol.asyncDispose]();
  await upstream[Symbol.asyncDispose]();
  server.close();
});

/** Writes the same again and again, as fast as it is taken, until the other side has enough. */
function endlessly(socket: Socket, text: string): void {
  const more = () => {
    while (!socket.destroyed && socket.write(text)) written += text.length;
  };
  socket.on("drain", more);
  more();
}

/** One byte at a time. */
function dripping(socket: Socket, text: string): void {
  let at = 0;
  const timer = setInterval(() => socket.write(text[at++ % text.length] ?? ""), 10);
  socket.once("close", () => clearInterval(timer));
}

const HOSTILE: readonly [what: string, answer: (socket: Socket) => void, reason: RegExp][] = [
  [
    "a head that never ends",
    (socket) => {
      socket.write("HTTP/1.1 200 OK\r\n");
      endlessly(socket, `x-more: ${"y".repeat(1000)}\r\n`);
    },
    /HPE_HEADER_OVERFLOW/,
  ],
  [
    "one header that never ends",
    (socket) => {
      socket.write("HTTP/1.1 200 OK\r\nx-long: ");
      endlessly(socket, "y".repeat(1000));
    },
    /HPE_HEADER_OVERFLOW/,
  ],
  [
    "a head of one byte at a time",
    (socket) => dripping(socket, "HTTP/1.1 200 OK\r\nx: yyyyyyyyyyyyyyyyyyyyyyy"),
    /in time/,
  ],
  ["words before the answer, without end", (socket) => dripping(socket, "HTTP/1.1 103 Early Hints\r\n\r\n"), /in time/],
  ["nothing at all", () => undefined, /in time/],
  ["another protocol", (socket) => socket.end("SSH-2.0-OpenSSH_9.2\r\n"), /HPE_/],
  [
    "two lengths",
    (socket) => socket.end("HTTP/1.1 200 OK\r\ncontent-length: 3\r\ncontent-length: 5\r\n\r\nabcde"),
    /HPE_|failed/,
  ],
  [
    "a length and chunks",
    (socket) =>
      socket.end("HTTP/1.1 200 OK\r\ncontent-length: 3\r\ntransfer-encoding: chunked\r\n\r\n5\r\nabcde\r\n0\r\n\r\n"),
    /HPE_|failed/,
  ],
  [
    "an end in the middle of the head",
    (socket) => socket.end("HTTP/1.1 200 OK\r\nx-a: b\r\n"),
    /ECONNRESET|socket hang up/,
  ],
  ["no answer", (socket) => socket.end(), /ECONNRESET|socket hang up/],
  [
    "another protocol that nobody asked for",
    (socket) => socket.write("HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n"),
    /without being asked/,
  ],
];

describe("G-51 an upstream that answers with", () => {
  it.each(HOSTILE)("%s gets a clear answer for its client, and holds nothing", async (_what, how, reason) => {
    written = 0;
    answer = how;
    const { status, text } = await proxy.plain(`http://${HOST}/x`);
    expect([status, text]).toEqual([502, expect.stringContaining("UPSTREAM_FAILED") as string]);
    expect(text).toMatch(reason);
    // What is in the buffers of two sockets, and no more.
    expect(written).toBeLessThan(16 * 1024 * 1024);
    await expect.poll(() => connections()).toBe(0);
  });

  it("G-71 words that nobody has asked for: they are no answer to the next request", async () => {
    answer = (socket) => {
      socket.write("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok");
      setTimeout(() => socket.write("HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nforged"), 20);
    };
    expect((await proxy.plain(`http://${HOST}/one`)).text).toBe("ok");
    await sleep(100);
    const next = await proxy.plain(`http://${HOST}/two`);
    expect([next.status, next.text]).toEqual([200, "ok"]);
    await sleep(100);
    await expect.poll(() => connections()).toBe(0);
  });

  it("TLS that is none, and a certificate of somebody else", async () => {
    answer = (socket) => socket.end("no handshake at all");
    const none = await proxy.ask(`https://${TLS_HOST}/`);
    expect([none.status, none.text]).toEqual([
      502,
      expect.stringMatching(/no secure connection.*(EPROTO|SSL)/) as string,
    ]);
    const wrong = await proxy.ask(`https://${WRONG}/`);
    expect([wrong.status, wrong.text]).toEqual([
      502,
      expect.stringContaining("ERR_TLS_CERT_ALTNAME_INVALID") as string,
    ]);
  });

  it("a body that unpacks to more than all measure ends where that shows", async () => {
    const bomb = gzipSync(Buffer.alloc(100 * 1024 * 1024));
    upstream.handler = (_request, response) => {
      (response as ServerResponse).writeHead(200, { "content-encoding": "gzip" }).end(bomb);
    };
    await expect(proxy.ask(`https://${PACKED}/bomb`)).rejects.toThrow();
    expect(proxy.events.at(-1)?.bytes_received ?? 0).toBeLessThan(70 * 1024 * 1024);
  });

  it("redirects without end: each is the client's to follow, and to be decided", async () => {
    upstream.seen.length = 0;
    upstream.handler = (_request, response) => {
      (response as ServerResponse).writeHead(302, { location: `https://${TALKS}/again` }).end();
    };
    for (let count = 0; count < 20; count++) expect((await proxy.ask(`https://${TALKS}/again`)).status).toBe(302);
    expect(upstream.seen).toHaveLength(20);
  });

  it("a WebSocket of which one side has ended is over soon", async () => {
    upstream.secure.once("upgrade", (_request, socket: Socket) => {
      socket.on("error", () => undefined);
      socket.end("HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n");
    });
    const client = await proxy.secure(TALKS);
    const over = new Promise<void>((done) => client.once("close", () => done()));
    client.resume();
    client.write(`GET / HTTP/1.1\r\nHost: ${TALKS}\r\n${WEB_SOCKET}`);
    await over;
    expect(proxy.events.length).toBeGreaterThan(0);
  });

  it("a WebSocket whose client has ended is over soon, also when the upstream never ends its side", async () => {
    const upgraded = new Promise<Socket>((done) =>
      upstream.plain.once("upgrade", (_request, socket: Socket) => {
        socket.on("error", () => undefined).resume();
        socket.write("HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n");
        done(socket);
      }),
    );
    const client = connect(proxy.port, "127.0.0.1");
    client.on("error", () => undefined).resume();
    client.write(`GET http://${PLAIN}/ HTTP/1.1\r\nHost: ${PLAIN}\r\n${WEB_SOCKET}`);
    const served = await upgraded;
    await new Promise((done) => client.once("data", done));
    client.end();
    // Told when it is over.
    await expect.poll(() => proxy.events.filter(({ host }) => host === PLAIN)).toMatchObject([{ status: 101 }]);
    served.destroy();
  });
});

const WEB_SOCKET =
  "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n";

const connections = (): Promise<number> =>
  new Promise((done, fail) => server.getConnections((error, count) => (error ? fail(error) : done(count))));
