import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TestProxy, Upstream } from "../../../test/helpers/egress-proxy.ts";
import type { GateRoute } from "../../model/egress-order.ts";

const HOST = "api.example.test";
const REDACTS = "model.example.test";
/** Of 22 characters: no half of it is found by itself. */
const VALUE = `pw-${randomBytes(12).toString("base64url").replaceAll(/[-_]/g, "x")}-q7Z`;
/** Nobody has named it: a rule finds it, when it is whole. */
const TOKEN = `AKIA${Array.from(randomBytes(15), (byte) => "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"[byte % 32]).join("")}7`;

let upstream: Upstream;
let proxy: TestProxy;

const redacts: Partial<GateRoute> = {
  dlp: { outbound_detectors: null, inbound_detectors: [], outbound_on_match: "redact" },
};
/** Anew for each case: what was sent before is remembered. */
const obey = () =>
  proxy.obey({
    routes: [upstream.route(HOST), upstream.route(REDACTS, redacts)],
    guarded: [{ kind: "known_secrets", name: "PASSWORD", value: VALUE }],
  });

beforeAll(async () => {
  upstream = await new Upstream().listen([HOST, REDACTS], { alpn: false });
  proxy = await new TestProxy().listen();
});

afterAll(async () => {
  await proxy[Symbol.asyncDispose]();
  await upstream[Symbol.asyncDispose]();
});

interface Sent {
  readonly path?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string;
  readonly isSlow?: boolean;
}

async function send(host: string, { path = "/v1/items", headers = {}, body, isSlow = false }: Sent): Promise<number> {
  upstream.seen.length = 0;
  const framed = { host, ...headers, ...(body !== undefined && { "content-length": String(body.length) }) };
  if (!isSlow || body === undefined) {
    const answer = await proxy.ask(`https://${host}${path}`, { headers: framed, ...(body !== undefined && { body }) });
    return answer.status;
  }
  const socket = await proxy.secure(host);
  const head = Object.entries({ host, ...headers, "transfer-encoding": "chunked" });
  const lines = head.map(([name, value]) => `${name}: ${value}\r\n`).join("");
  socket.write(`POST ${path} HTTP/1.1\r\n${lines}\r\n${body.length.toString(16)}\r\n${body}\r\n`);
  // What stalls goes on in parts.
  await new Promise((done) => setTimeout(done, 100));
  const answer = await proxy.raw("0\r\n\r\n", socket);
  return Number(/^HTTP\/1.1 (\d{3})/.exec(answer)?.[1]);
}

const multipart = (...parts: readonly string[]): Sent => ({
  headers: { "content-type": "multipart/form-data; boundary=b0rder" },
  body: `${parts.map((part, at) => `--b0rder\r\ncontent-disposition: form-data; name="f${at}"\r\n\r\n${part}\r\n`).join("")}--b0rder--\r\n`,
});

/** Where the first and the second half of a value are. */
const WAYS: Readonly<Record<string, (one: string, other: string) => Sent>> = {
  "header and path": (one, other) => ({ headers: { "x-note": one }, path: `/v1/${other}` }),
  "path and header": (one, other) => ({ path: `/v1/${one}/items`, headers: { "x-other": "abc", "x-note": other } }),
  "query and header": (one, other) => ({ path: `/v1?q=${one}&page=2`, headers: { "x-note": other } }),
  "header and query": (one, other) => ({ path: `/v1?page=2&q=${other}`, headers: { "x-note": one } }),
  "path and query": (one, other) => ({ path: `/v1/${one}?page=2&q=${other}` }),
  "query and path": (one, other) => ({ path: `/v1/${other}?q=${one}&page=2` }),
  "two headers": (one, other) => ({ headers: { "x-a": one, "x-b": "nothing", "x-c": other } }),
  "two headers, the last first": (one, other) => ({ headers: { "x-a": other, "x-b": "nothing", "x-c": one } }),
  "header and JSON": (one, other) => ({ headers: { "x-note": one }, body: `{"text":"${other}","n":"2"}` }),
  "JSON and header": (one, other) => ({ headers: { "x-note": other }, body: `{"n":"2","text":"${one}"}` }),
  "path and text": (one, other) => ({ path: `/v1/${one}`, body: `${other} and more words` }),
  "text and query": (one, other) => ({ path: `/?q=${other}`, body: `words, and then ${one}` }),
  "query and form": (one, other) => ({ path: `/?q=${one}`, body: `text=${other}&n=1` }),
  "header and a slow body": (one, other) => ({ headers: { "x-note": one }, body: `${other} and more`, isSlow: true }),
  "a slow body and header": (one, other) => ({ headers: { "x-note": other }, body: `more, ${one}`, isSlow: true }),
  "header and a long body": (one, other) => ({
    headers: { "x-note": one },
    body: `${other} ${"and many words, ".repeat(4000)}`,
  }),
  "a long body and header": (one, other) => ({
    headers: { "x-note": other },
    body: `${"many words, ".repeat(4000)}${one}`,
  }),
  "parts of a form": (one, other) => multipart(one, other),
  "parts of a form and header": (one, other) => ({
    ...multipart("nothing", one),
    headers: { "content-type": "multipart/form-data; boundary=b0rder", "x-note": other },
  }),
};

describe("G-190 a value that is cut into two places of one request does not leave", () => {
  const halves = (value: string) => {
    const middle = Math.ceil(value.length / 2);
    return [value.slice(0, middle), value.slice(middle)] as const;
  };

  it.each(Object.entries(WAYS))("in %s", async (_way, cut) => {
    for (const value of [VALUE, TOKEN]) {
      obey();
      const [one, other] = halves(value);
      expect(await send(HOST, cut(one, "0123"))).toBe(200);
      obey();
      expect(await send(HOST, cut("0123", other))).toBe(200);
      obey();
      // Of a long body the beginning has gone before its end comes.
      const status = await send(HOST, cut(one, other)).catch(() => 0);
      expect([403, 0]).toContain(status);
      expect(upstream.seen.filter(({ complete }) => complete)).toEqual([]);
    }
  });

  it("nor in three, one after the other", async () => {
    obey();
    const [one, two, three] = [VALUE.slice(0, 7), VALUE.slice(7, 14), VALUE.slice(14)];
    expect(await send(HOST, { path: `/v1/${one}?q=${two}`, headers: { "x-note": three } })).toBe(403);
  });

  it("and where a route overwrites, half of it arrives at most", async () => {
    const [one, other] = halves(VALUE);
    obey();
    expect(await send(REDACTS, { headers: { "x-note": one }, body: `{"text":"${other}","n":"2"}` })).toBe(200);
    expect(upstream.seen[0]?.body.toString()).toMatch(/^\{"text":"[^"]*\*+","n":"2"\}$/);
    expect(upstream.seen[0]?.body.toString()).not.toContain(other);
    obey();
    // In two places of a head neither can be overwritten.
    expect(await send(REDACTS, { headers: { "x-a": one, "x-b": other } })).toBe(403);
  });
});
