import { randomBytes } from "node:crypto";
import type { ServerResponse } from "node:http";
import { afterAll, beforeAll, expect, it } from "vitest";
import { TestProxy, Upstream, bearer } from "../../../test/helpers/egress-proxy.ts";

const API = "api.example.test";
const OTHER = "other.example.test";
const TOKEN = `Tok-${randomBytes(20).toString("hex")}`;

let upstream: Upstream;
let proxy: TestProxy;
const order = () => ({
  routes: [upstream.route(API, { credentials: [bearer(TOKEN)] }), upstream.route(OTHER)],
});

beforeAll(async () => {
  upstream = await new Upstream().listen([API, OTHER]);
  proxy = await new TestProxy(order()).listen();
});

afterAll(async () => {
  await proxy[Symbol.asyncDispose]();
  await upstream[Symbol.asyncDispose]();
});

it("G-182 takes out the password of a pair that the upstream shows by itself", async () => {
  const password = `pw-${randomBytes(12).toString("hex")}`;
  const basic = bearer(`someone:${password}`, { scheme: "Basic" });
  proxy.obey({ routes: [upstream.route(API, { credentials: [basic] })] });
  upstream.handler = (request, response) => {
    const pair = Buffer.from((request.headers.authorization ?? "").slice("Basic ".length), "base64").toString();
    const [user, pass] = pair.split(":");
    (response as ServerResponse).end(JSON.stringify({ user, pass }));
  };
  const { text } = await proxy.ask(`https://${API}/who`);
  proxy.obey(order());
  expect(JSON.parse(text)).toEqual({ user: "someone", pass: "*".repeat(password.length) });
});

it("G-183 gives nobody an echoed credential in parts", async () => {
  upstream.handler = (request, response) => {
    const text = Buffer.from(`before ${request.headers.authorization ?? ""} after ${"-".repeat(100)}\n`);
    const to = response as ServerResponse;
    const [, first = "0", last] = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? "") ?? [];
    const end = last === undefined || last === "" ? text.length : Number(last) + 1;
    const part = text.subarray(Number(first), end);
    const headers = { "content-range": `bytes ${first}-${end - 1}/${text.length}` };
    to.writeHead(request.headers.range === undefined ? 200 : 206, headers).end(part);
  };
  const ask = async (range: string) => {
    const headers = { host: API, range };
    const answers = [await proxy.ask(`https://${API}/parts`, { headers })];
    answers.push(await proxy.ask(`https://${API}/parts`, { headers: { host: API, "request-range": range } }));
    return answers.map(({ body }) => body.toString());
  };
  const got: string[] = [];
  // Few bytes at a time, and then ever fewer of the front.
  for (let at = 0; at < 60; at += 5) got.push(...(await ask(`bytes=${at}-${at + 4}`)));
  for (let at = 0; at < 60; at += 5) got.push(...(await ask(`bytes=${at}-`)), ...(await ask(`bytes=${at}-${at + 63}`)));
  const pieces = Array.from({ length: TOKEN.length - 5 }, (_, at) => TOKEN.slice(at, at + 6));
  expect(pieces.filter((piece) => got.some((text) => text.includes(piece)))).toEqual([]);
  expect(got).toContainEqual(expect.stringMatching(/^\*+ after -+\n$/));
  // What is too small to look into is not asked for, by whatever name.
  for (const range of ["bytes=0-4", "bytes=0-4,80-200", "bytes=-5"]) {
    upstream.seen.length = 0;
    await ask(range);
    const asked = upstream.seen.map(({ headers }) => [headers.range, headers["request-range"]]);
    expect([range, asked]).toEqual([range, Array.from({ length: 2 }, () => [undefined, undefined])]);
  }
  // Where there is no credential nobody minds.
  await proxy.ask(`https://${OTHER}/parts`, { headers: { host: OTHER, range: "bytes=0-4" } });
  expect(upstream.seen.at(-1)?.headers.range).toBe("bytes=0-4");
});

it("G-40 says nothing of a credential that the upstream calls its packing", async () => {
  upstream.handler = (request, response) => {
    const coding = (request.headers.authorization ?? "").replace("Bearer ", "");
    (response as ServerResponse).writeHead(200, { "content-encoding": coding }).end("packed");
  };
  const { status, text } = await proxy.ask(`https://${API}/packed`);
  expect([status, text.includes("packed as"), text.includes(TOKEN)]).toEqual([502, true, false]);
});
