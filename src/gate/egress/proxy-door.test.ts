import { randomBytes } from "node:crypto";
import type { ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { TestProxy, Upstream, bearer, routeFor } from "../../../test/helpers/egress-proxy.ts";

const API = "api.example.test";
const OTHER = "other.example.test";
const TOKEN = `tok-${randomBytes(20).toString("hex")}`;
const SECRET = `sec-${randomBytes(20).toString("hex")}`;
const STAND_IN = `tok-${randomBytes(20).toString("hex")}`;

let upstream: Upstream;
let proxy: TestProxy;
const echo = new Upstream().handler;

const order = () => ({
  routes: [
    upstream.route(API, { credentials: [bearer(TOKEN)], pass: ["API_TOKEN"] }),
    upstream.route(OTHER),
    upstream.route("plain.example.test", { connect: `127.0.0.1:${upstream.plainPort}` }),
    upstream.route("ruled.example.test", {
      matches: [{ paths: [{ type: "prefix" as const, value: "/v1/" }], methods: ["GET"] }],
    }),
    upstream.route("model.example.test", {
      provider: "anthropic" as const,
      dlp: { outbound_detectors: null, inbound_detectors: [], outbound_on_match: "redact" as const },
    }),
    upstream.route("raw.example.test", { tls: "passthrough" as const }),
    routeFor("down.example.test", { connect: "127.0.0.1:1" }),
    routeFor("missing.example.test", { credentials: [bearer(null)] }),
    routeFor("outside.example.test", { credentials: [bearer(TOKEN)] }),
    upstream.route("inside.example.test", {
      connect: `127.0.0.1:${upstream.plainPort}`,
      credentials: [bearer(TOKEN)],
    }),
  ],
  guarded: [
    { kind: "known_secrets" as const, name: "SECRET", value: SECRET },
    { kind: "stand_ins" as const, name: "API_TOKEN", value: STAND_IN },
  ],
});

beforeAll(async () => {
  upstream = await new Upstream().listen([API, OTHER, "ruled.example.test", "model.example.test", "raw.example.test"]);
  proxy = await new TestProxy(order()).listen();
});

afterAll(async () => {
  await proxy[Symbol.asyncDispose]();
  await upstream[Symbol.asyncDispose]();
});

afterEach(() => {
  upstream.seen.length = 0;
  upstream.handler = echo;
});

describe("the gate's proxy", () => {
  it("G-41 sends on nothing that comes after a body, where nobody looks", async () => {
    let trailers: unknown;
    upstream.handler = (request, response) => {
      trailers = request.rawTrailers;
      (response as ServerResponse).end();
    };
    const socket = await proxy.secure(OTHER);
    socket.write(
      `POST / HTTP/1.1\r\nhost: ${OTHER}\r\ntransfer-encoding: chunked\r\ntrailer: x-note\r\n\r\n3\r\nabc\r\n`,
    );
    await sleep(100); // what stalls goes on in parts
    expect(await proxy.raw(`0\r\nx-note: ${SECRET}\r\n\r\n`, socket)).toContain(" 200 ");
    expect(trailers).toEqual([]);
  });

  it("G-40 overwrites a credential that comes back after the body", async () => {
    upstream.handler = (request, response) => {
      (response as ServerResponse).writeHead(200, { trailer: "x-echo" });
      (response as ServerResponse).write("body");
      response.addTrailers({ "x-echo": request.headers.authorization ?? "" });
      response.end();
    };
    const { trailers } = await proxy.ask(`https://${API}/`, { headers: { te: "trailers" } });
    expect(trailers["x-echo"]).toMatch(/^Bearer /);
    expect(trailers["x-echo"]).not.toContain(TOKEN);
  });

  it("G-39 puts no credential into what goes out without TLS, but to an address inside that the route names", async () => {
    const host = "outside.example.test";
    const whole = await proxy.plain(`http://${host}/`);
    const tunnel = await proxy.raw(`GET / HTTP/1.1\r\nhost: ${host}:443\r\n\r\n`, await proxy.tunnel(`${host}:443`));
    expect(whole.status).toBe(403);
    for (const answer of [whole.text, tunnel]) expect(answer).toContain("no credential into a request without TLS");
    await proxy.plain("http://inside.example.test/");
    expect(upstream.seen.at(-1)?.headers.authorization).toBe(`Bearer ${TOKEN}`);
  });

  it("G-41 tells of no value that somebody has put into the name of a host", async () => {
    const before = proxy.events.length;
    const refusals = [
      await proxy.raw(`CONNECT ${SECRET}.example.test:443 HTTP/1.1\r\nhost: x\r\n\r\n`),
      await proxy.raw(`CONNECT ${SECRET}@x HTTP/1.1\r\nhost: x\r\n\r\n`),
      (await proxy.plain(`http://${SECRET}.example.test/`)).text,
    ];
    await sleep(10);
    expect(proxy.events.length - before).toBe(3);
    expect(JSON.stringify(proxy.events)).not.toContain(SECRET);
    expect(refusals.join()).not.toContain(SECRET);
  });

  it("G-50 takes no method that there is not, in HTTP/2 either", async () => {
    const session = await proxy.http2(OTHER);
    const stream = session.request({ ":path": "/", ":method": "CORRECTHORSEBATTERY" });
    const status = await new Promise((done) => stream.once("response", (headers) => done(headers[":status"])));
    session.destroy();
    expect(status).toBe(403);
    expect(upstream.seen).toEqual([]);
  });

  it("carries a request to a listed host and puts the credential in", async () => {
    const answer = await proxy.ask(`https://${API}/hello?x=1`, {
      headers: { authorization: "Bearer mine", "x-kept": "yes", cookie: "a=b" },
    });
    expect(answer.text).toBe("upstream saw GET /hello?x=1\n");
    expect(upstream.seen[0]?.headers).toMatchObject({ authorization: `Bearer ${TOKEN}`, "x-kept": "yes", host: API });
    expect(upstream.seen[0]?.headers.cookie).toBeUndefined();
    expect(proxy.events.at(-1)).toMatchObject({
      kind: "egress.request",
      method: "GET",
      host: API,
      path: "/hello",
      status: 200,
      rule: API,
      injected: true,
      credentials: ["API_TOKEN"],
    });
    expect(JSON.stringify(proxy.events)).not.toContain(TOKEN);
  });

  it("G-39 puts it in nowhere else, and serves plain requests", async () => {
    await proxy.ask(`https://${OTHER}/`);
    expect(upstream.seen[0]?.headers.authorization).toBeUndefined();
    const answer = await proxy.plain("http://plain.example.test/p?q", { method: "POST", body: "some text" });
    expect(answer.text).toBe("upstream saw POST /p?q\n");
    expect(upstream.seen[1]?.body.toString()).toBe("some text");
  });

  it("G-35 refuses what is not listed, in one shape", async () => {
    const plain = await proxy.plain("http://unlisted.example.test/page?x=1");
    expect(plain.status).toBe(403);
    expect(plain.headers["content-type"]).toBe("application/json");
    expect(JSON.parse(plain.text)).toEqual({
      error: {
        code: "EGRESS_DENIED",
        message: expect.any(String) as string,
        host: "unlisted.example.test",
        path: "/page",
        rule: null,
        hint: expect.any(String) as string,
      },
    });
    await expect(proxy.tunnel("unlisted.example.test:443")).rejects.toThrow("403");
    for (const authority of [
      "127.0.0.1:443",
      "[::1]:443",
      "2130706433:443",
      "0x7f000001:443",
      "localhost:443",
      `${API}:22`,
      API,
      "[::ffff:127.0.0.1]:443",
    ])
      await expect(proxy.tunnel(authority)).rejects.toThrow(/403|400/);
    expect(upstream.seen).toEqual([]);
  });

  it("G-35 refuses everything before the gate is told what may leave", async () => {
    const untold = await new TestProxy().listen();
    await expect(untold.tunnel(`${API}:443`)).rejects.toThrow("403");
    expect((await untold.plain("http://plain.example.test/")).status).toBe(403);
    await untold[Symbol.asyncDispose]();
  });

  it("G-37 refuses other paths and methods, and paths that can be read twice", async () => {
    const ask = (path: string, method?: string) =>
      proxy.ask(`https://ruled.example.test${path}`, method ? { method } : {});
    expect((await ask("/v1/thing")).status).toBe(200);
    expect((await ask("/v1/thing", "DELETE")).status).toBe(403);
    for (const path of [
      "/admin",
      "/v1/../admin",
      "/v1/%2e%2e/admin",
      "/v1/..%2fadmin",
      "/v1/a%2fb",
      "/v1//x",
      "/v1\\..\\admin",
      "/v1/%00",
    ]) {
      const answer = await ask(path);
      expect([path, answer.status]).toEqual([path, 403]);
      expect((JSON.parse(answer.text) as { error: { code: string } }).error.code).toBe("EGRESS_DENIED");
    }
    expect(upstream.seen).toHaveLength(1);
    // Where no rule is about paths, as for npm's scoped packages.
    expect((await proxy.ask(`https://${OTHER}/@scope%2fname`)).text).toBe("upstream saw GET /@scope%2fname\n");
  });

  it("G-38 refuses a Host, a name in the handshake or an :authority that is another's", async () => {
    for (const host of [OTHER, "unlisted.example.test", `${API}:8443`, "127.0.0.1"])
      expect((await proxy.ask(`https://${API}/spoof`, { headers: { host } })).status).toBe(403);
    expect((await proxy.plain("http://plain.example.test/spoof", { headers: { host: API } })).status).toBe(403);
    await expect(proxy.secure(API, { servername: OTHER })).rejects.toThrow();
    const session = await proxy.http2(API);
    const status = await new Promise((done) => {
      const stream = session.request({ ":path": "/spoof", ":authority": OTHER });
      stream.on("response", (headers) => done(headers[":status"]));
      stream.resume();
    });
    expect(status).toBe(403);
    session.close();
    expect(upstream.seen).toEqual([]);
  });

  it("speaks HTTP/2 on both sides, with many requests in one connection, and trailers", async () => {
    upstream.handler = (_request, response) => {
      (response as ServerResponse).writeHead(200, { trailer: "x-sum" });
      (response as ServerResponse).write("body");
      (response as ServerResponse).addTrailers({ "x-sum": "1" });
      (response as ServerResponse).end();
    };
    const session = await proxy.http2(API);
    const one = (index: number) =>
      new Promise<{ text: string; trailers: unknown }>((done) => {
        const stream = session.request({ ":path": `/n/${index}`, ":method": "POST" });
        let text = "";
        let trailers: unknown;
        stream
          .on("data", (chunk: Buffer) => (text += chunk.toString()))
          .on("trailers", (headers: Record<string, unknown>) => (trailers = headers["x-sum"]));
        stream.on("end", () => done({ text, trailers }));
        stream.end("x".repeat(1000));
      });
    const answers = await Promise.all(Array.from({ length: 50 }, (_, index) => one(index)));
    expect(answers).toEqual(Array.from({ length: 50 }, () => ({ text: "body", trailers: "1" })));
    expect(new Set(upstream.seen.map(({ version }) => version))).toEqual(new Set(["2.0"]));
    expect(upstream.seen.every(({ headers }) => headers.authorization === `Bearer ${TOKEN}`)).toBe(true);
    session.close();
  });

  it("G-40 takes an echoed credential out of headers and body, also when it is cut or packed", async () => {
    upstream.handler = (request, response) => {
      const text = `before ${request.headers.authorization ?? ""} after\n`;
      const to = response as ServerResponse;
      if (request.url === "/gzip") {
        to.writeHead(200, { "content-encoding": "gzip" });
        to.end(gzipSync(text));
        return;
      }
      to.writeHead(200, { "x-echo": request.headers.authorization ?? "" });
      to.write(text.slice(0, 30));
      setTimeout(() => to.end(text.slice(30)), 20);
    };
    for (const path of ["/cut", "/gzip"]) {
      const { text, headers } = await proxy.ask(`https://${API}${path}`);
      expect(text).toMatch(/^before Bearer \*+ after\n$/);
      expect(JSON.stringify(headers)).not.toContain(TOKEN);
    }
  });

  it("G-41 lets no secret out, in any part of a request", async () => {
    const at = `https://${OTHER}`;
    const all = await Promise.all([
      proxy.ask(`${at}/p/${SECRET}`),
      proxy.ask(`${at}/q?note=${SECRET}`),
      proxy.ask(`${at}/h`, { headers: { "x-note": SECRET } }),
      proxy.ask(`${at}/b`, { body: `note=${SECRET}` }),
      proxy.ask(`${at}/j`, { body: JSON.stringify({ note: Buffer.from(SECRET).toString("base64") }) }),
      proxy.ask(`${at}/g`, {
        body: gzipSync(`note=${SECRET}`),
        headers: { "content-encoding": "gzip", "content-length": String(gzipSync(`note=${SECRET}`).length) },
      }),
      proxy.ask(`${at}/u`, { body: "x", headers: { "content-encoding": "unknown", "content-length": "1" } }),
      proxy.ask(`${at}/e`, {
        body: "x",
        headers: { "content-encoding": "gzip, gzip, gzip, gzip", "content-length": "1" },
      }),
      proxy.ask(`${at}/s`, { headers: { authorization: `Bearer ${STAND_IN}` } }),
    ]);
    for (const { status, text } of all) {
      expect([text, status]).toEqual([text, 403]);
      expect((JSON.parse(text) as { error: { code: string } }).error.code).toBe("DLP_BLOCKED");
      expect(text).not.toContain(SECRET);
    }
    expect(upstream.seen).toEqual([]);
    expect(JSON.stringify(proxy.events)).not.toContain(SECRET);
    expect((await proxy.ask(`${at}/clean`, { body: "an ordinary sentence" })).status).toBe(200);
    expect((await proxy.ask(`https://${API}/home`, { body: `mine is ${STAND_IN}` })).status).toBe(200);
  });

  it("G-41 ends a large upload when something is found in it, before it is whole", async () => {
    const body = Buffer.concat([randomBytes(3_000_000), Buffer.from(` ${SECRET} `), randomBytes(3_000_000)]);
    const answer = await proxy.ask(`https://${OTHER}/large`, { body }).catch((error: unknown) => error as Error);
    if (!(answer instanceof Error)) expect(answer.status).toBe(403);
    // It hears of the end after its client does.
    await expect.poll(() => upstream.seen.length).toBe(1);
    expect(upstream.seen.some(({ complete }) => complete)).toBe(false);
    expect(upstream.seen.some(({ body: got }) => got.includes(SECRET))).toBe(false);
  });

  it("on a model's route overwrites what must not leave, and refuses in the model's own words", async () => {
    const answer = await proxy.ask("https://model.example.test/v1/messages", {
      body: JSON.stringify({ text: `a ${SECRET} b` }),
    });
    expect(answer.status).toBe(200);
    const got = JSON.parse(upstream.seen[0]?.body.toString() ?? "") as { text: string };
    expect(got.text).toHaveLength(SECRET.length + 4);
    expect(got.text).not.toContain(SECRET);
    const refused = await proxy.ask("https://model.example.test/v1/%2e%2e/x", { body: "{}" });
    expect(refused.status).toBe(400);
    expect(JSON.parse(refused.text)).toMatchObject({ type: "error", error: { type: "invalid_request_error" } });
  });

  it("carries much both ways, whole, and server-sent events as they come", async () => {
    upstream.handler = (request, response, body) => {
      const to = response as ServerResponse;
      if (request.url !== "/sse") {
        to.end(body);
        return;
      }
      to.writeHead(200, { "content-type": "text/event-stream" });
      to.write("data: first\n\n");
      finish = () => to.end("data: last\n\n");
    };
    let finish = () => undefined as unknown;
    const bytes = randomBytes(5_000_000);
    const answer = await proxy.ask(`https://${OTHER}/echo`, { body: bytes });
    expect([answer.status, answer.status === 200 ? "" : answer.text]).toEqual([200, ""]);
    expect(answer.body.equals(bytes)).toBe(true);
    const socket = await proxy.secure(API);
    socket.write(`GET /sse HTTP/1.1\r\nHost: ${API}\r\nConnection: close\r\n\r\n`);
    let text = "";
    await new Promise<void>((done) => {
      socket.on("data", (chunk: Buffer) => {
        text += chunk.toString();
        if (text.includes("first") && !text.includes("last")) finish();
      });
      socket.once("end", () => done());
    });
    expect(text).toContain("data: last");
  });

  it("is a tunnel only where a route says so", async () => {
    const socket = await proxy.tunnel("raw.example.test:443");
    const { connect } = await import("node:tls");
    const tls = connect({ socket, servername: "raw.example.test", ca: [upstream.keys.certificate] });
    await new Promise<void>((done, fail) => tls.once("secureConnect", done).once("error", fail));
    tls.write("GET /raw HTTP/1.1\r\nHost: raw.example.test\r\nConnection: close\r\n\r\n");
    const text = await new Promise<string>((done) => {
      let all = "";
      tls.on("data", (chunk: Buffer) => (all += chunk.toString())).once("end", () => done(all));
    });
    expect(text).toContain("upstream saw GET /raw");
    const wrong = await proxy.tunnel("raw.example.test:443");
    const other = connect({ socket: wrong, servername: OTHER, ca: [upstream.keys.certificate] });
    await expect(
      new Promise((done, fail) => other.once("secureConnect", done).once("error", fail).once("close", fail)),
    ).rejects.toBeDefined();
    expect(
      await proxy.raw("GET / HTTP/1.1\r\nHost: raw.example.test\r\n\r\n", await proxy.tunnel("raw.example.test:443")),
    ).toBe("");
  });

  it("says why an upstream cannot be reached, and that a credential is missing", async () => {
    const down = await proxy.ask("https://down.example.test/");
    expect(down.status).toBe(502);
    expect(down.text).toMatch(/UPSTREAM_FAILED.*ECONNREFUSED/);
    const missing = await proxy.ask("https://missing.example.test/");
    expect(missing.status).toBe(502);
    expect(missing.text).toMatch(/CREDENTIAL_UNAVAILABLE.*API_TOKEN/);
    expect(proxy.gate.wants).toEqual(["API_TOKEN"]);
  });

  it("keeps requests under way when the policy changes", async () => {
    let release = () => undefined as unknown;
    const arrived = new Promise<void>((done) => {
      upstream.handler = (_request, response) => {
        release = () => (response as ServerResponse).end("late");
        done();
      };
    });
    const changing = await new TestProxy(order()).listen();
    const late = changing.ask(`https://${API}/slow`);
    await arrived;
    changing.obey({ routes: [] });
    await expect(changing.tunnel(`${API}:443`)).rejects.toThrow("403");
    release();
    expect((await late).text).toBe("late");
    await changing[Symbol.asyncDispose]();
  });
});
