import type { ServerResponse } from "node:http";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { TestProxy, Upstream, bearer } from "../../../test/helpers/egress-proxy.ts";
import { keepTokens } from "../../policy/egress/keep-tokens.ts";
import { makeStandIn } from "../../policy/egress/stand-in.ts";
import type { EgressOrder } from "../../model/egress-order.ts";

const API = "api.example.test";
const OTHER = "other.example.test";
const TOKEN = `sk-ant-api03-${"q7Zx0pLm3RtVw9Ks2NbYc5HdGf8JaE1u".repeat(2)}`;
const STAND_IN = makeStandIn(TOKEN);

let upstream: Upstream;
let proxy: TestProxy;
const echo = new Upstream().handler;

const redact = { outbound_detectors: null, inbound_detectors: [], outbound_on_match: "redact" as const };
const order = (more: Partial<EgressOrder> = {}): EgressOrder => ({
  log: "all",
  way_out: { proxy: null, ca: null },
  routes: [
    upstream.route(API, { credentials: [bearer(TOKEN)], pass: ["API_TOKEN"] }),
    upstream.route(OTHER),
    upstream.route("overwrites.example.test", { credentials: [bearer(TOKEN)], dlp: redact }),
  ],
  guarded: [
    { kind: "stand_ins", name: "API_TOKEN", value: STAND_IN },
    { kind: "known_secrets", name: "token of API_TOKEN", value: TOKEN },
  ],
  ...more,
});

beforeAll(async () => {
  upstream = await new Upstream().listen([API, OTHER, "overwrites.example.test"]);
  proxy = await new TestProxy(order()).listen();
});

afterAll(async () => {
  await proxy[Symbol.asyncDispose]();
  await upstream[Symbol.asyncDispose]();
});

afterEach(() => {
  upstream.seen.length = 0;
  upstream.handler = echo;
  proxy.obey(order());
  proxy.events.length = 0;
});

const post = (host: string, body: string, path = "/v1/messages") =>
  proxy.ask(`https://${host}${path}`, { method: "POST", body });

describe("a stand-in", () => {
  it("G-56 goes home in a body as it is, and is blocked on every other way and told", async () => {
    expect((await post(API, JSON.stringify({ text: `my key is ${STAND_IN}` }))).status).toBe(200);
    expect(upstream.seen[0]?.body.toString()).toContain(STAND_IN);
    const blocked = await post(OTHER, `key=${STAND_IN}`);
    expect([blocked.status, JSON.parse(blocked.text)]).toMatchObject([403, { error: { code: "DLP_BLOCKED" } }]);
    const asked = await proxy.ask(`https://${OTHER}/?k=${STAND_IN}`);
    const sent = await proxy.ask(`https://${OTHER}/`, { headers: { authorization: `Bearer ${STAND_IN}` } });
    expect([asked.status, sent.status]).toEqual([403, 403]);
    expect(upstream.seen).toHaveLength(1);
    const denied = proxy.events.filter(({ kind }) => kind === "egress.denied");
    expect(denied).toHaveLength(3);
    for (const event of denied)
      expect(event.findings).toContainEqual(expect.objectContaining({ rule: "stand-in", name: "API_TOKEN" }));
    expect(JSON.stringify(proxy.events)).not.toContain(STAND_IN);
  });

  it("G-56 is overwritten where the route says so, and the real token goes nowhere in a body", async () => {
    expect((await post("overwrites.example.test", `{"key":"${STAND_IN}"}`)).status).toBe(200);
    const [seen] = upstream.seen;
    expect(seen?.body.toString()).not.toContain(STAND_IN.slice(20));
    expect(seen?.body.length).toBe(`{"key":"${STAND_IN}"}`.length);
    expect((await post(API, `key ${TOKEN}`)).status).toBe(403);
  });
});

describe("a token", () => {
  it("that an upstream does not take is asked for anew, and the next request has the next one", async () => {
    proxy.obey(order({ routes: [upstream.route(API, { credentials: [bearer("old-token", { renewable: true })] })] }));
    upstream.handler = (request, response) => {
      (response as ServerResponse).writeHead(request.headers.authorization === "Bearer new-token" ? 200 : 401).end();
    };
    expect((await proxy.ask(`https://${API}/`)).status).toBe(401);
    expect(proxy.gate.wants).toEqual(["API_TOKEN"]);
    proxy.obey(order({ routes: [upstream.route(API, { credentials: [bearer("new-token", { renewable: true })] })] }));
    expect(proxy.gate.wants).toEqual([]);
    expect((await proxy.ask(`https://${API}/`)).status).toBe(200);
  });

  it("that there is none of is told with the reason", async () => {
    const gone = bearer(null, { problem: 'The token command "get" failed with exit code 1' });
    proxy.obey(order({ routes: [upstream.route(API, { credentials: [gone] })] }));
    const answer = await proxy.ask(`https://${API}/`);
    expect(answer.status).toBe(502);
    expect(answer.text).toMatch(/CREDENTIAL_UNAVAILABLE.*failed with exit code 1/);
  });

  it("stays with the gate when an order comes from one who does not know it", () => {
    const unknown = order({ routes: [upstream.route(API, { credentials: [bearer(null)] })], guarded: [] });
    const kept = keepTokens(unknown, order());
    expect(kept.routes[0]?.credentials[0]?.token).toBe(TOKEN);
    expect(kept.guarded).toEqual([{ kind: "known_secrets", name: "token of API_TOKEN", value: TOKEN }]);
    const gone = order({ routes: [upstream.route(API, { credentials: [bearer(null, { problem: "gone" })] })] });
    expect(keepTokens(gone, order()).routes[0]?.credentials[0]?.token).toBeNull();
    expect(keepTokens(unknown, null)).toBe(unknown);
  });
});

describe("what a gate tells", () => {
  const answer = (type: string, body: Buffer, coding?: string) => {
    upstream.handler = (_request, response) => {
      const headers = { "content-type": type, ...(coding !== undefined && { "content-encoding": coding }) };
      (response as ServerResponse).writeHead(200, headers).end(body);
    };
  };
  const json = Buffer.from(JSON.stringify({ usage: { input_tokens: 11, output_tokens: 22 } }));
  const stream = Buffer.from(
    'event: message_start\ndata: {"type":"message_start","message":{"usage":{"input_tokens":11,"output_tokens":1}}}\n\n' +
      'data: {"type":"content_block_delta","delta":{"text":"hello"}}\n\n'.repeat(200) +
      'data: {"type":"message_delta","usage":{"output_tokens":22}}\n\n',
  );
  const usage = { input_tokens: 11, output_tokens: 22, cache_read_tokens: 0, cache_write_tokens: 0 };

  it.each([
    ["application/json", json, undefined],
    ["application/json", gzipSync(json), "gzip"],
    ["text/event-stream", stream, undefined],
    ["text/event-stream", brotliCompressSync(stream), "br"],
  ] as const)("has the tokens of an answer in %s, packed as %3$s", async (type, body, coding) => {
    for (const host of [API, OTHER]) {
      answer(type, body, coding);
      const { body: got } = await post(host, "{}");
      expect(
        got.equals(host === OTHER ? body : coding === undefined ? body : type === "application/json" ? json : stream),
      ).toBe(true);
      await expect.poll(() => proxy.events.at(-1)?.model_usage).toEqual(usage);
      proxy.events.length = 0;
    }
  });

  it("has none of other calls, and none that cannot be read", async () => {
    answer("application/json", json);
    await post(OTHER, "{}", "/v1/other");
    answer("application/json", Buffer.from("no gzip"), "gzip");
    await post(OTHER, "{}");
    await expect.poll(() => proxy.events.map(({ model_usage: told }) => told)).toEqual([null, null]);
  });

  it("is as much as the policy asks for, and tokens are counted all the same", async () => {
    answer("application/json", json);
    for (const [log, told] of [
      ["off", [false]],
      ["blocks", [false, true]],
      ["all", [true, true, true]],
    ] as const) {
      proxy.obey(order({ log }));
      await post(OTHER, "{}");
      await proxy.plain("http://unlisted.example.test/");
      await proxy.ask(`https://${OTHER}/other`);
      await expect.poll(() => proxy.events.map((event) => (event as { is_logged?: boolean }).is_logged)).toEqual(told);
      proxy.events.length = 0;
    }
  });
});
