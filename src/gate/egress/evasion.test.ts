import { randomBytes } from "node:crypto";
import { deflateSync, gzipSync, brotliCompressSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TestProxy, Upstream } from "../../../test/helpers/egress-proxy.ts";
import { createRandom } from "../../../test/helpers/random.ts";

const HOST = "api.example.test";
const SECRET = `sec-${randomBytes(24).toString("base64url")}`;
/** Of the random cases; another one with `CLOCHE_TEST_SEED`. */
const SEED = Number(process.env["CLOCHE_TEST_SEED"] ?? 1);
const CASES = Number(process.env["CLOCHE_TEST_RUNS"] ?? 120);

let upstream: Upstream;
let proxy: TestProxy;

beforeAll(async () => {
  upstream = await new Upstream().listen([HOST], { alpn: false });
  proxy = await new TestProxy({
    routes: [upstream.route(HOST)],
    guarded: [{ kind: "known_secrets", name: "SECRET", value: SECRET }],
  }).listen();
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
