import { once } from "node:events";
import { type ClientHttp2Session, constants } from "node:http2";
import type { AddressInfo } from "node:net";
import { type TLSSocket, connect, createServer } from "node:tls";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { TestProxy, Upstream, listening, routeFor } from "../../../test/helpers/egress-proxy.ts";
import {
  CONTINUATION,
  DATA,
  END_HEADERS,
  END_STREAM,
  GOAWAY,
  HEADERS,
  PING,
  PUSH_PROMISE,
  SETTINGS,
  frame,
  header,
  number,
  reset,
} from "../../../test/helpers/http2-frames.ts";
import { Authority, newAuthority } from "../tls/authority.ts";
import { UpstreamFault } from "./connecting.ts";
import { PATIENCE } from "./patience.ts";
import { Http2Connection } from "./upstream-http2.ts";

const HOST = "hostile.example.test";
const OTHER = "other.example.test";
const HEAD_MS = 500;
const PREFACE = 24;
/** `:status: 200` and `:status: 103`, as HPACK has them. */
const OK = Buffer.from([0x88]);
const EARLY = Buffer.concat([Buffer.from([0x08, 3]), Buffer.from("103")]);

const goaway = (last: number, code: number): Buffer => frame(GOAWAY, 0, 0, Buffer.concat([number(last), number(code)]));
const SETTING_WINDOW = (size: number) => Buffer.concat([Buffer.from([0, 4]), number(size)]);

/** What the upstream does when the head of a request has come on a stream. */
let answer: (socket: TLSSocket, stream: number) => void = () => undefined;
let settings: Buffer = Buffer.alloc(0);
let written = 0;
const open = new Set<TLSSocket>();
const keys = newAuthority("upstream");
const server = createServer({
  ALPNProtocols: ["h2"],
  SNICallback: (name, done) => done(null, authority.context(name)),
});
const authority = new Authority("upstream", keys);
server.on("secureConnection", (socket) => {
  open.add(socket);
  socket.on("error", () => undefined);
  socket.once("close", () => open.delete(socket));
  socket.write(frame(SETTINGS, 0, 0, settings));
  let held = Buffer.alloc(0);
  let skip = PREFACE;
  socket.on("data", (chunk: Buffer) => {
    held = Buffer.concat([held, chunk]);
    if (held.length < skip) return;
    held = held.subarray(skip);
    skip = 0;
    while (held.length >= 9 && held.length >= 9 + held.readUIntBE(0, 3)) {
      const size = held.readUIntBE(0, 3);
      if (held[3] === HEADERS) answer(socket, held.readUInt32BE(5));
      if (held[3] === SETTINGS && held[4] === 0) socket.write(frame(SETTINGS, 1, 0));
      held = held.subarray(9 + size);
    }
  });
});
server.on("tlsClientError", () => undefined);

let proxy: TestProxy;
let good: Upstream;
let session: ClientHttp2Session;

beforeAll(async () => {
  good = await new Upstream().listen([OTHER]);
  const hostile = `127.0.0.1:${await listening(server)}`;
  const routes = [routeFor(HOST, { connect: hostile, ca: keys.certificate }), good.route(OTHER)];
  proxy = await new TestProxy({ routes }, { headMs: HEAD_MS }).listen();
});

beforeEach(async () => {
  settings = Buffer.alloc(0);
  written = 0;
  session = await proxy.http2(HOST);
});

afterEach(() => {
  session.destroy();
  for (const socket of open) socket.destroy();
});

afterAll(async () => {
  await proxy[Symbol.asyncDispose]();
  await good[Symbol.asyncDispose]();
  server.close();
});

/** Writes the same again and again, as fast as it is taken, until the other side has enough. */
function endlessly(socket: TLSSocket, bytes: Buffer): void {
  const more = () => {
    while (!socket.destroyed && socket.write(bytes)) written += bytes.length;
  };
  socket.on("drain", more);
  more();
}

interface Heard {
  readonly status: number;
  readonly text: string;
  /** It came to its end in good order. */
  readonly isWhole: boolean;
}

function ask(body?: Buffer): Promise<Heard> {
  const stream = session.request({ ":path": "/x", ":method": body ? "POST" : "GET" }, { endStream: !body });
  if (body) stream.end(body);
  return new Promise((done) => {
    let status = 0;
    let text = "";
    let isWhole = false;
    stream.once("response", (headers) => (status = headers[":status"] ?? 0));
    stream.on("data", (chunk: Buffer) => (text += chunk.toString()));
    stream.once("end", () => (isWhole = stream.rstCode === constants.NGHTTP2_NO_ERROR));
    stream.on("error", () => (isWhole = false));
    stream.once("close", () => done({ status, text, isWhole: isWhole && stream.rstCode === 0 }));
  });
}

const WITHOUT_AN_ANSWER: readonly [what: string, answer: typeof answer, reason: RegExp, body?: Buffer][] = [
  ["a reset", (socket, stream) => socket.write(reset(stream, constants.NGHTTP2_REFUSED_STREAM)), /failed|closed/],
  [
    "a head that goes on in frames without end",
    (socket, stream) => {
      socket.write(frame(HEADERS, 0, stream, OK));
      endlessly(socket, frame(CONTINUATION, 0, stream, header("x-more", "y".repeat(100))));
    },
    /failed|closed/,
  ],
  [
    "more headers than anybody needs",
    (socket, stream) => {
      const many = Buffer.concat(Array.from({ length: 700 }, (_, at) => header(`x-${at}`, "y")));
      socket.write(frame(HEADERS, END_HEADERS, stream, Buffer.concat([OK, many])));
    },
    /failed|closed/,
  ],
  [
    "early hints without end",
    (socket, stream) => endlessly(socket, frame(HEADERS, END_HEADERS, stream, EARLY)),
    /in time|failed|closed/,
  ],
  ["nothing, and no room for the body", () => undefined, /in time/, Buffer.alloc(300_000, "x")],
  ["a word that it goes", (socket) => socket.write(goaway(0, constants.NGHTTP2_NO_ERROR)), /failed|closed/],
  [
    "a word that it goes in anger",
    (socket) => socket.write(goaway(0, constants.NGHTTP2_ENHANCE_YOUR_CALM)),
    /failed|closed/,
  ],
  [
    "settings without end",
    (socket) => endlessly(socket, frame(SETTINGS, 0, 0, SETTING_WINDOW(65_535))),
    /in time|failed|closed/,
  ],
  ["pings without end", (socket) => endlessly(socket, frame(PING, 0, 0, Buffer.alloc(8))), /in time|failed|closed/],
  [
    "a push that nobody wants",
    (socket, stream) => socket.write(frame(PUSH_PROMISE, END_HEADERS, stream, Buffer.concat([number(2), OK]))),
    /failed|closed/,
  ],
  [
    "a body before its head",
    (socket, stream) => socket.write(frame(DATA, 0, stream, Buffer.from("early"))),
    /failed|closed|in time/,
  ],
  ["no HTTP/2", (socket) => socket.end("HTTP/1.1 200 OK\r\n\r\n"), /failed|closed/],
];

describe("G-51 an upstream of HTTP/2 that answers with", () => {
  it.each(WITHOUT_AN_ANSWER)(
    "%s gets a clear answer for its client, and holds nothing",
    async (_what, how, reason, body) => {
      if (body) settings = SETTING_WINDOW(0);
      answer = how;
      const { status, text, isWhole } = await ask(body);
      expect([status, isWhole, text]).toEqual([502, true, expect.stringContaining("UPSTREAM_FAILED") as string]);
      expect(text).toMatch(reason);
      // What is in the buffers of two sockets, and no more.
      expect(written).toBeLessThan(16 * 1024 * 1024);
      const fine = await proxy.ask(`https://${OTHER}/after`);
      expect(fine.status).toBe(200);
    },
  );

  it("frames of no kind without end: they are dropped as they come, and only for so long", async () => {
    answer = (socket, stream) => endlessly(socket, frame(0xbb, 0xff, stream, Buffer.alloc(1000)));
    expect(await ask()).toMatchObject({ status: 502, text: expect.stringContaining("in time") as string });
    await expect.poll(() => open.size).toBe(0);
  });

  it("resets of a hundred requests at once costs no more than those", async () => {
    answer = (socket, stream) => socket.write(reset(stream, constants.NGHTTP2_CANCEL));
    const all = await Promise.all(Array.from({ length: 100 }, () => ask()));
    expect(new Set(all.map(({ status }) => status))).toEqual(new Set([502]));
    expect(open.size).toBeLessThan(4);
  });

  it.each([
    ["goes", (socket: TLSSocket) => socket.end(goaway(0, constants.NGHTTP2_INTERNAL_ERROR))],
    ["is cancelled", (socket: TLSSocket, stream: number) => socket.write(reset(stream, constants.NGHTTP2_CANCEL))],
    ["is reset", (socket: TLSSocket, stream: number) => socket.write(reset(stream, constants.NGHTTP2_INTERNAL_ERROR))],
    ["is cut off", (socket: TLSSocket) => socket.destroy()],
    [
      "has more in it than there is room for",
      (socket: TLSSocket, stream: number) => {
        for (let sent = 0; sent < 3 * 1024 * 1024; sent += 16_000)
          socket.write(frame(DATA, 0, stream, Buffer.alloc(16_000)));
      },
    ],
  ])("a body that %s in the middle is no whole body for its client", async (_what, how) => {
    answer = (socket, stream) => {
      socket.write(frame(HEADERS, END_HEADERS, stream, OK));
      socket.write(frame(DATA, 0, stream, Buffer.from("a part")), () => setTimeout(() => how(socket, stream), 30));
    };
    const { status, isWhole } = await ask();
    expect([status, isWhole]).toEqual([200, false]);
  });

  it("its end at the very moment of a request is told as any other", async () => {
    const { port } = server.address() as AddressInfo;
    const socket = connect({ port, host: "127.0.0.1", servername: HOST, ca: keys.certificate, ALPNProtocols: ["h2"] });
    await once(socket, "secureConnect");
    const connection = new Http2Connection(HOST, PATIENCE, socket, () => undefined);
    connection.close();
    const request = { method: "GET", target: "/", headers: [], hasBody: false };
    expect(() => connection.call(request)).toThrow(UpstreamFault);
  });

  it("a word that it goes after this answer: the answer is whole, and the next request has another connection", async () => {
    answer = (socket, stream) => {
      socket.write(goaway(stream, constants.NGHTTP2_NO_ERROR));
      socket.write(frame(HEADERS, END_HEADERS, stream, OK));
      socket.write(frame(DATA, END_STREAM, stream, Buffer.from("whole")));
    };
    for (let count = 0; count < 3; count++)
      expect(await ask(), `request ${count}`).toEqual({ status: 200, text: "whole", isWhole: true });
  });
});
