import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import type { Socket } from "node:net";
import { constants, createDeflateRaw } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TestProxy, Upstream } from "../../../test/helpers/egress-proxy.ts";
import { createRandom } from "../../../test/helpers/random.ts";
import { frame } from "./web-socket-frames.ts";

const HOST = "ws.example.test";
const SECRET = `sec-${randomBytes(24).toString("base64url")}`;
/** Of the random cases; another one with `CLOCHE_TEST_SEED`. */
const SEED = Number(process.env["CLOCHE_TEST_SEED"] ?? 1);
const CASES = Number(process.env["CLOCHE_TEST_RUNS"] ?? 40);
const [CONTINUE, TEXT, BINARY, CLOSE, PING, PONG] = [0, 1, 2, 8, 9, 10];

let upstream: Upstream;
let proxy: TestProxy;
let received: Buffer[] = [];

beforeAll(async () => {
  upstream = await new Upstream().listen([HOST], { alpn: false });
  upstream.secure.on("upgrade", (request, socket) => {
    const key = `${request.headers["sec-websocket-key"] ?? ""}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`;
    const accept = createHash("sha1").update(key).digest("base64");
    const lines = ["Upgrade: websocket", "Connection: Upgrade", `Sec-WebSocket-Accept: ${accept}`];
    socket.write(`HTTP/1.1 101 Switching Protocols\r\n${lines.join("\r\n")}\r\n\r\n`);
    // As it comes: a mask of the gate's is of zeros.
    socket.on("data", (chunk: Buffer) => received.push(chunk));
    socket.on("error", () => undefined);
  });
  proxy = await new TestProxy({
    routes: [upstream.route(HOST)],
    guarded: [{ kind: "known_secrets", name: "SECRET", value: SECRET }],
  }).listen();
});

afterAll(async () => {
  await proxy[Symbol.asyncDispose]();
  await upstream[Symbol.asyncDispose]();
});

async function open(extensions = ""): Promise<Socket> {
  received = [];
  const socket = await proxy.secure(HOST);
  const key = randomBytes(16).toString("base64");
  const lines = [
    `Host: ${HOST}`,
    "Upgrade: websocket",
    "Connection: Upgrade",
    "Sec-WebSocket-Version: 13",
    `Sec-WebSocket-Key: ${key}`,
  ];
  socket.write(`GET /chat HTTP/1.1\r\n${lines.join("\r\n")}\r\n${extensions}\r\n`);
  const [answer] = (await once(socket, "data")) as [Buffer];
  expect(answer.toString()).toMatch(/^HTTP\/1\.1 101 /);
  return socket;
}

/** As a client sends it: with a mask, and maybe with bits that an extension would give a meaning. */
function masked(opcode: number, payload: Buffer, { isFinal = true, reserved = 0 } = {}): Buffer {
  const bytes = frame(opcode, payload, { isFinal, isMasked: true });
  const mask = randomBytes(4);
  const at = bytes.length - payload.length;
  mask.copy(bytes, at - 4);
  for (let index = 0; index < payload.length; index++)
    bytes[at + index] = (payload[index] ?? 0) ^ (mask[index & 3] ?? 0);
  bytes[0] = (bytes[0] ?? 0) | (reserved << 4);
  return bytes;
}

/** Until the gate has closed; the code that it gave. */
async function closed(socket: Socket): Promise<number> {
  const parts: Buffer[] = [];
  socket.on("data", (chunk: Buffer) => parts.push(chunk));
  await once(socket, "close");
  const all = Buffer.concat(parts);
  const at = all.findIndex((byte) => byte === (0x80 | CLOSE));
  return at < 0 ? 0 : all.readUInt16BE(at + 2);
}

/** All that came out, without anything that frames put between. */
const sent = (): string => Buffer.concat(received).toString("latin1");
const leaked = (): boolean => sent().includes(SECRET.slice(0, 12)) || sent().includes(SECRET.slice(-12));

const each = (text: string, write: (code: number) => string): string =>
  Array.from(text, (one) => write(one.charCodeAt(0))).join("");
const VIEWS: Readonly<Record<string, (text: string) => string>> = {
  plain: (text) => text,
  base64: (text) => Buffer.from(text).toString("base64"),
  hex: (text) => Buffer.from(text).toString("hex"),
  reversed: (text) => Array.from(text).toReversed().join(""),
  "escapes of JSON": (text) => each(text, (code) => `\\u${code.toString(16).padStart(4, "0")}`),
  // Three bytes each: cuts lie inside of them.
  "zero width": (text) => Array.from(text).join("\u200b"),
  "full width": (text) =>
    each(text, (code) =>
      code > 0x20 && code < 0x7f ? String.fromCodePoint(code + 0xfee0) : String.fromCharCode(code),
    ),
  "two strings": (text) => `${text.slice(0, 9)}","${text.slice(9)}`,
};

describe("G-50 a known secret does not leave in a WebSocket", () => {
  const next = createRandom(SEED);
  const cases = Array.from({ length: CASES }, () => {
    const views = Object.entries(VIEWS);
    const [view, write] = views[next(views.length)] as [string, (text: string) => string];
    return {
      view,
      write,
      opcode: next(2) + 1,
      fragments: 1 + next(6),
      between: next(3),
      pieces: 1 + next(5),
      cut: next(1_000_000),
    };
  });

  it.each(cases)(
    "as $view, in $fragments frames with $between others between, in $pieces pieces",
    async ({ write, opcode, fragments, between, pieces, cut }) => {
      const socket = await open();
      const message = Buffer.from(`{"note":"\u00fc ${write(SECRET)}","n":1}`);
      const frames = cutInto(message, fragments, cut).flatMap((part, at, all) => [
        masked(at === 0 ? opcode : CONTINUE, part, { isFinal: at === all.length - 1 }),
        ...(at < all.length - 1
          ? Array.from({ length: between }, (_, count) =>
              masked(count % 2 === 0 ? PING : PONG, Buffer.from("still here")),
            )
          : []),
      ]);
      const over = closed(socket);
      for (const part of cutInto(Buffer.concat(frames), pieces, cut + 1)) {
        socket.write(part);
        await new Promise((done) => setImmediate(done));
      }
      expect(await over).toBe(1008);
      expect(leaked()).toBe(false);
      expect(sent()).not.toContain(write(SECRET).slice(0, 20));
    },
  );

  it.each([
    ["in the reason of a close", () => [masked(CLOSE, Buffer.concat([Buffer.from([3, 232]), Buffer.from(SECRET)]))]],
    ["in a pong", () => [masked(PONG, Buffer.from(SECRET))]],
    [
      "behind a message of a megabyte, in the same one",
      () => [
        masked(TEXT, Buffer.alloc(1024 * 1024, "lorem ipsum "), { isFinal: false }),
        masked(CONTINUE, Buffer.from(SECRET)),
      ],
    ],
    [
      "over two messages",
      () => [
        masked(TEXT, Buffer.from(`{"part":"${SECRET.slice(0, 14)}"}`)),
        masked(TEXT, Buffer.from(`{"part":"${SECRET.slice(14)}"}`)),
      ],
    ],
    [
      "over three pings",
      () => [0, 12, 24].map((at) => masked(PING, Buffer.from(SECRET.slice(at, at === 24 ? undefined : at + 12)))),
    ],
    [
      "in frames of one byte",
      () =>
        Array.from(SECRET, (one, at) =>
          masked(at === 0 ? BINARY : CONTINUE, Buffer.from(one), { isFinal: at === SECRET.length - 1 }),
        ),
    ],
    [
      "with empty frames between",
      () => [
        masked(TEXT, Buffer.from(SECRET.slice(0, 14)), { isFinal: false }),
        masked(CONTINUE, Buffer.alloc(0), { isFinal: false }),
        masked(CONTINUE, Buffer.from(SECRET.slice(14))),
      ],
    ],
  ])("%s", async (_how, frames) => {
    const socket = await open();
    const over = closed(socket);
    for (const one of frames()) socket.write(one);
    expect(await over).toBe(1008);
    // Of two messages the first one is gone before anybody can know.
    expect([SECRET, SECRET.slice(14), SECRET.slice(24)].some((part) => sent().includes(part))).toBe(false);
  });

  it.each([
    [
      "another frame before the last one of a message",
      () => [
        masked(TEXT, Buffer.from(SECRET.slice(0, 14)), { isFinal: false }),
        masked(TEXT, Buffer.from(SECRET.slice(14))),
      ],
    ],
    ["a continuation of nothing", () => [masked(CONTINUE, Buffer.from(SECRET))]],
    ["a ping in parts", () => [masked(PING, Buffer.from(SECRET), { isFinal: false })]],
    ["a ping of 126 bytes", () => [masked(PING, Buffer.from(SECRET.padEnd(126)))]],
    ["a kind that nobody knows", () => [masked(3, Buffer.from(SECRET)), masked(11, Buffer.from(SECRET))]],
    ["no mask", () => [frame(TEXT, Buffer.from(SECRET))]],
    ["a length of 2^63", () => [Buffer.from([0x81, 0xff, 0x80, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4])]],
  ])("and frames that are none end it: %s", async (_how, frames) => {
    const socket = await open();
    const over = closed(socket);
    for (const one of frames()) socket.write(one);
    expect(await over).toBe(1002);
    expect(leaked()).toBe(false);
  });

  it("packed, also with words of the message before: nobody has agreed on that", async () => {
    const deflate = createDeflateRaw({ windowBits: 15 });
    const packed: Buffer[] = [];
    deflate.on("data", (chunk: Buffer) => packed.push(chunk));
    const pack = async (text: string): Promise<Buffer> => {
      packed.length = 0;
      deflate.write(text);
      await new Promise<void>((done) => deflate.flush(constants.Z_SYNC_FLUSH, done));
      return Buffer.concat(packed).subarray(0, -4);
    };
    const messages = [await pack(`{"text":"${SECRET}"}`), await pack(`{"text":"${SECRET}"}`)];
    // The second one is only a distance and a length.
    expect(messages[1]?.length).toBeLessThan(20);
    for (const offered of ["", "Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits\r\n"]) {
      const socket = await open(offered);
      const over = closed(socket);
      for (const one of messages) socket.write(masked(TEXT, one, { reserved: 4 }));
      expect(await over).toBe(1002);
      expect(Buffer.concat(received).length).toBeLessThan(20); // a close, and nothing of a message
    }
  });

  it("but other messages do, in whatever frames", async () => {
    const socket = await open();
    const text = "ordinary words \u00fc\u200b ".repeat(50);
    const frames = cutInto(Buffer.from(text), 7, 12_345).flatMap((part, at, all) => [
      masked(at === 0 ? TEXT : CONTINUE, part, { isFinal: at === all.length - 1 }),
      masked(PING, Buffer.from("here")),
    ]);
    socket.write(Buffer.concat(frames));
    await expect.poll(() => sent()).toContain(Buffer.from(text).toString("latin1"));
    socket.destroy();
  });
});

/** Cut anywhere, also inside of a character. */
function cutInto(bytes: Buffer, count: number, seed: number): Buffer[] {
  const cuts = Array.from({ length: count - 1 }, (_, at) => (seed * (at + 7)) % bytes.length);
  const ends = [...cuts.toSorted((one, other) => one - other), bytes.length];
  return ends.map((end, at) => bytes.subarray(ends[at - 1] ?? 0, end));
}
