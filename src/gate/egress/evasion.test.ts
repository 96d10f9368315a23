import { randomBytes } from "node:crypto";
import { deflateSync, gzipSync, brotliCompressSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TestProxy, Upstream } from "../../../test/helpers/egress-proxy.ts";
import { createRandom } from "../../../test/helpers/random.ts";

const HOST = "api.example.test";
const OTHER = "other.example.test";
const SECRET = `sec-${randomBytes(24).toString("base64url")}`;
/** It is in a body that `zstd -19` packed, which Node 20 cannot: twelve messages, and it is in the eighth. */
const PACKED_SECRET = "sec-7tXw0pLm3RtVw9Ks2NbYc5Hd";
const PACKED = Buffer.from(
  "KLUv/WT4AjUFACJJHhhQ2wEgQYy1hKIyegGohjCCteoPkzEzE0KpNSxK1hwYdUHEO4sp3aj4HlEwp5sEmD9z15qcIIdREAPpXwJpX8t/beacgZUFJv36SpDdsxp/Vp3kM9QYNEPy4g6z5cjO3Wb6nn4b6AvW+/a/NtPuhWSjFdPvW/33r9EQIHBz1RhMEwFeip5A4zg1yiTGKDlEo/coU6g89BQonyQZEVakmKBV/DOy4a5H",
  "base64",
);
/** Of the random cases; another one with `CLOCHE_TEST_SEED`. */
const SEED = Number(process.env["CLOCHE_TEST_SEED"] ?? 1);
const CASES = Number(process.env["CLOCHE_TEST_RUNS"] ?? 120);

let upstream: Upstream;
let proxy: TestProxy;

const guarded = [{ kind: "known_secrets", name: "SECRET", value: SECRET }] as const;
const order = () => ({
  routes: [upstream.route(HOST), upstream.route(OTHER)],
  guarded: [...guarded, { kind: "known_secrets", name: "PACKED_SECRET", value: PACKED_SECRET }] as const,
});

beforeAll(async () => {
  upstream = await new Upstream().listen([HOST, OTHER], { alpn: false });
  proxy = await new TestProxy(order()).listen();
});

afterAll(async () => {
  await proxy[Symbol.asyncDispose]();
  await upstream[Symbol.asyncDispose]();
});

const each = (text: string, write: (code: number) => string): string =>
  Array.from(text, (one) => write(one.charCodeAt(0))).join("");
const hex = (code: number, digits: number): string => code.toString(16).padStart(digits, "0");

/** How a value may be written. Each takes text and gives ASCII text. */
const VIEWS: Readonly<Record<string, (text: string) => string>> = {
  plain: (text) => text,
  base64: (text) => Buffer.from(text).toString("base64"),
  base64url: (text) => Buffer.from(text).toString("base64url"),
  "base64 behind other bytes": (text) => Buffer.from(`x${text}`).toString("base64"),
  hex: (text) => Buffer.from(text).toString("hex"),
  "hex in capitals": (text) => Buffer.from(text).toString("hex").toUpperCase(),
  reversed: (text) => Array.from(text).toReversed().join(""),
  "percent signs": (text) => each(text, (code) => `%${hex(code, 2)}`),
  dashes: (text) => Array.from(text).join("-"),
  dots: (text) => Array.from(text).join("."),
  "other case": (text) => text.toUpperCase(),
};
/** In bodies only: these have characters that a head cannot have. */
const BODY_VIEWS: typeof VIEWS = {
  ...VIEWS,
  "escapes of JSON": (text) => each(text, (code) => `\\u${hex(code, 4)}`),
  "escapes of HTML": (text) => each(text, (code) => `&#${code};`),
  lines: (text) => Array.from(text).join("\r\n"),
  "zero width": (text) => Array.from(text).join("\u200b"),
  "two strings": (text) => `${text.slice(0, 9)}","${text.slice(9)}`,
};

interface Sent {
  readonly path?: string;
  readonly headers?: Record<string, string>;
  readonly body?: Buffer | string;
}

const packed = (coding: string, pack: (text: string) => Buffer) => (value: string) => ({
  headers: { "content-encoding": coding, "content-type": "application/json" },
  body: pack(JSON.stringify({ text: `some words, and then ${value}` })),
});
/** One frame of one block that is as it is. */
function zstdFrame(text: string): Buffer {
  const bytes = Buffer.from(text);
  const head = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0xa0, 0, 0, 0, 0, 0, 0, 0]);
  head.writeUInt32LE(bytes.length, 5);
  head.writeUIntLE((bytes.length << 3) | 1, 9, 3);
  return Buffer.concat([head, bytes]);
}
const filler = "the quick brown fox reads a file and edits it, ".repeat(900);

/** Where it may be. */
const PLACES: Readonly<Record<string, { views: typeof VIEWS; send: (value: string) => Sent }>> = {
  path: { views: VIEWS, send: (value) => ({ path: `/v1/${value.replaceAll("/", "%2F")}/x` }) },
  query: { views: VIEWS, send: (value) => ({ path: `/?a=1&q=${value}&z=2` }) },
  "name of a parameter": { views: VIEWS, send: (value) => ({ path: `/?${value}` }) },
  header: { views: VIEWS, send: (value) => ({ headers: { "x-note": `see ${value}` } }) },
  "user agent": { views: VIEWS, send: (value) => ({ headers: { "user-agent": `tool/${value}` } }) },
  json: { views: BODY_VIEWS, send: (value) => ({ body: `{"a":[{"text":"${value}"}],"n":1}` }) },
  form: { views: VIEWS, send: (value) => ({ body: `a=1&text=${value}&b=2` }) },
  text: { views: BODY_VIEWS, send: (value) => ({ body: `words ${value} words` }) },
  "deep in a long body": { views: BODY_VIEWS, send: (value) => ({ body: `${filler}${value}${filler}` }) },
  "gzip body": { views: BODY_VIEWS, send: packed("gzip", (text) => gzipSync(text)) },
  "deflate body": { views: BODY_VIEWS, send: packed("deflate", (text) => deflateSync(text)) },
  "brotli body": { views: BODY_VIEWS, send: packed("br", (text) => brotliCompressSync(text)) },
  "zstd body": { views: BODY_VIEWS, send: packed("zstd", zstdFrame) },
  "part of a form": {
    views: BODY_VIEWS,
    send: (value) => ({
      headers: { "content-type": "multipart/form-data; boundary=b" },
      body: `--b\r\ncontent-disposition: form-data; name="f"; filename="x"\r\n\r\n${value}\r\n--b--\r\n`,
    }),
  },
};

describe("G-50 a known secret does not leave", () => {
  const next = createRandom(SEED);
  const pick = <Value>(from: Readonly<Record<string, Value>>): [string, Value] =>
    Object.entries(from)[next(Object.keys(from).length)] as [string, Value];
  const cases = Array.from({ length: CASES }, () => {
    const [place, { views, send }] = pick(PLACES);
    const [view, write] = pick(views);
    return { place, view, send, write, pieces: 1 + next(4), cut: next(1_000_000) };
  });

  it.each(cases)("in the $place, as $view, in $pieces pieces", async ({ send, write, pieces, cut }) => {
    upstream.seen.length = 0;
    const { path = "/", headers = {}, body } = send(write(SECRET));
    const bytes = body === undefined ? undefined : Buffer.from(body);
    const head = { host: HOST, ...headers, ...(bytes && { "transfer-encoding": "chunked" }) };
    const lines = Object.entries(head).map(([name, value]) => `${name}: ${value}\r\n`);
    const socket = await proxy.secure(HOST);
    socket.write(`${bytes ? "POST" : "GET"} ${path} HTTP/1.1\r\n${lines.join("")}connection: close\r\n\r\n`);
    // Chunks that are cut anywhere.
    const ends = Array.from({ length: pieces - 1 }, (_, at) => (cut * (at + 7)) % (bytes?.length ?? 1)).toSorted(
      (one, other) => one - other,
    );
    for (const [at, end] of [...ends, bytes?.length ?? 0].entries()) {
      const part = bytes?.subarray(ends[at - 1] ?? 0, end) ?? Buffer.alloc(0);
      if (part.length > 0)
        socket.write(Buffer.concat([Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from("\r\n")]));
    }
    if (bytes) socket.write("0\r\n\r\n");
    const answer = await proxy.raw("", socket);
    expect(answer).toMatch(/^HTTP\/1.1 (403|400)/);
    expect(upstream.seen.filter(({ complete }) => complete)).toEqual([]);
  });

  it("in a body that zstd has packed, which comes unpacked without it", async () => {
    const headers = { host: HOST, "content-encoding": "zstd", "content-length": String(PACKED.length) };
    expect(PACKED.includes(PACKED_SECRET.slice(4, 10))).toBe(false);
    const blocked = await proxy.ask(`https://${HOST}/`, { headers, body: PACKED });
    expect([blocked.status, blocked.text]).toEqual([403, expect.stringContaining("known-secret") as string]);
    upstream.seen.length = 0;
    proxy.obey({ routes: [upstream.route(HOST), upstream.route(OTHER)], guarded });
    expect((await proxy.ask(`https://${HOST}/`, { headers, body: PACKED })).status).toBe(200);
    expect(upstream.seen[0]?.body.toString()).toContain(PACKED_SECRET);
    proxy.obey(order());
  });

  describe("cut over consecutive requests to one host, each on a connection of its own", () => {
    const size = Math.ceil(SECRET.length / 3);
    const parts = [0, 1, 2].map((at) => SECRET.slice(at * size, (at + 1) * size));
    const ways: Readonly<Record<string, (part: string, at: number) => Sent>> = {
      query: (part, at) => ({ path: `/?n=${at}&d=${part}` }),
      header: (part) => ({ headers: { "x-note": part } }),
      body: (part, at) => ({ body: JSON.stringify({ n: at, part }) }),
    };
    const send = async (host: string, { path = "/", headers = {}, body }: Sent): Promise<number> => {
      const framed = { host, ...headers, ...(body !== undefined && { "content-length": String(body.length) }) };
      return (await proxy.ask(`https://${host}${path}`, { headers: framed, ...(body !== undefined && { body }) }))
        .status;
    };

    it.each(Object.entries(ways))("in the %s", async (_place, way) => {
      proxy.obey(order());
      const statuses = [];
      for (const [at, part] of parts.entries()) statuses.push(await send(HOST, way(part, at)));
      // Most of a random value is enough.
      expect(statuses[0]).toBe(200);
      expect(statuses).toContain(403);
      // What another host has got is no part of it.
      proxy.obey(order());
      const apart = [await send(HOST, way(parts[0] ?? "", 0)), await send(OTHER, way(parts[1] ?? "", 1))];
      expect(apart).toEqual([200, 200]);
    });
  });

  it.each(Object.entries(PLACES))("but its neighbours do, in the %s", async (_place, { send }) => {
    const { path = "/", headers = {}, body } = send("an-ordinary-word-and-0123456789");
    const bytes = body === undefined ? undefined : Buffer.from(body);
    const answer = await proxy.ask(`https://${HOST}${path}`, {
      headers: { host: HOST, ...headers, ...(bytes && { "content-length": String(bytes.length) }) },
      ...(bytes && { body: bytes }),
    });
    expect([answer.status, answer.text.slice(0, 300)]).toEqual([
      200,
      expect.stringContaining("upstream saw") as string,
    ]);
  });
});
