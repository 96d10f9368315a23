import { randomBytes } from "node:crypto";
import { createSecureServer, type ClientHttp2Session, type Http2SecureServer } from "node:http2";
import { Agent, type ServerResponse, request } from "node:http";
import { type Socket, connect, createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { TestProxy, Upstream, bearer, listening, routeFor } from "../../../test/helpers/egress-proxy.ts";
import { Authority, newAuthority } from "../tls/authority.ts";
import { frame } from "./web-socket-frames.ts";

const BOTH = "both.example.test";
const OLD = "old.example.test";
const NEW = "new.example.test";
const PLAIN = "plain.example.test";
const TOKEN = `tok-${randomBytes(20).toString("hex")}`;
const SECRET = `sec-${randomBytes(20).toString("hex")}`;
const SILENCE_MS = 400;

let upstream: Upstream;
/** Speaks HTTP/1.1 alone. */
let old: Upstream;
/** Speaks HTTP/2 alone. */
let onlyNew: Http2SecureServer;
let proxy: TestProxy;
const newKeys = newAuthority("new");
const echo = new Upstream().handler;
const sessions = new Set<Socket>();

beforeAll(async () => {
  upstream = await new Upstream().listen([BOTH]);
  old = await new Upstream().listen([OLD], { alpn: false });
  const authority = new Authority("new", newKeys);
  onlyNew = createSecureServer({ SNICallback: (name, done) => done(null, authority.context(name)) });
  onlyNew.on("connection", (socket: Socket) => sessions.add(socket));
  onlyNew.on("stream", (stream, headers) => {
    let body = "";
    stream.on("data", (part: Buffer) => (body += part.toString()));
    stream.on("end", () => {
      const shown = [headers[":method"], headers[":authority"], headers[":path"], headers["authorization"], body];
      stream.respond({ ":status": 201, "x-told": "yes" }, { waitForTrailers: true });
      stream.on("wantTrailers", () => stream.sendTrailers({ "x-sum": "1" }));
      stream.end(JSON.stringify(shown));
    });
  });
  const port = await listening(onlyNew);
  proxy = await new TestProxy(
    {
      routes: [
        upstream.route(BOTH),
        old.route(OLD, { credentials: [bearer(TOKEN)] }),
        routeFor(NEW, { connect: `127.0.0.1:${port}`, ca: newKeys.certificate }),
        routeFor(PLAIN, { connect: `127.0.0.1:${upstream.plainPort}` }),
      ],
      guarded: [{ kind: "known_secrets", name: "SECRET", value: SECRET }],
    },
    { silenceMs: SILENCE_MS },
  ).listen();
});

afterAll(async () => {
  await proxy[Symbol.asyncDispose]();
  for (const socket of sessions) socket.destroy();
  onlyNew.close();
  await old[Symbol.asyncDispose]();
  await upstream[Symbol.asyncDispose]();
});

afterEach(() => {
  for (const one of [upstream, old]) {
    one.seen.length = 0;
    one.handler = echo;
  }
});

async function send(session: ClientHttp2Session, path: string, body: string): Promise<object> {
  const stream = session.request({ ":path": path, ":method": "POST", ":authority": OLD });
  let text = "";
  let status: unknown;
  let otherWay: unknown;
  let trailers: unknown;
  stream.on("response", (headers) => {
    status = headers[":status"];
    otherWay = headers["alt-svc"]; // which there is none beside the gate
  });
  stream.on("trailers", (headers: Record<string, unknown>) => (trailers = headers["x-sum"]));
  stream.on("data", (part: Buffer) => (text += part.toString()));
  stream.end(body);
  await new Promise((done) => stream.once("close", done));
  return { status, text, otherWay, trailers };
}

describe("the gate between two versions of HTTP", () => {
  it("carries a request of HTTP/2 to an upstream of HTTP/1.1, with its body, and the trailers of the answer", async () => {
    old.handler = (request, response, body) => {
      const to = response as ServerResponse;
      to.writeHead(202, { trailer: "x-sum", "alt-svc": 'h3=":443"' });
      to.write(
        `${request.httpVersion} ${request.headers.host ?? ""} ${String(request.headers.authorization === `Bearer ${TOKEN}`)} `,
      );
      to.write(String(body.length));
      to.addTrailers({ "x-sum": "1" });
      to.end();
    };
    const session = await proxy.http2(OLD);
    const answers = await Promise.all([1, 300_000].map((size) => send(session, "/up", "x".repeat(size))));
    session.close();
    expect(answers).toEqual([
      { status: 202, text: `1.1 ${OLD} true 1`, otherWay: undefined, trailers: "1" },
      { status: 202, text: `1.1 ${OLD} true 300000`, otherWay: undefined, trailers: "1" },
    ]);
  });

  it("tells an upstream of either version that trailers are wanted, which some do not answer without", async () => {
    const session = await proxy.http2(BOTH);
    for (const te of ["trailers", "gzip, trailers;q=1"])
      await proxy.ask(`https://${OLD}/`, { headers: { te, connection: "te" } });
    const stream = session.request({ ":path": "/", ":authority": BOTH, te: "trailers" });
    await new Promise((done) => stream.resume().once("close", done));
    await proxy.ask(`https://${OLD}/`, { headers: { te: "gzip" } });
    session.close();
    expect(upstream.seen.map(({ version, headers }) => [version, headers["te"]])).toEqual([["2.0", "trailers"]]);
    expect(old.seen.map(({ headers }) => [headers["te"], headers.connection])).toEqual([
      ["trailers", "keep-alive, TE"],
      ["trailers", "keep-alive, TE"],
      [undefined, "keep-alive"],
    ]);
  });

  it.each([BOTH, OLD])("carries 20 MB of a request of HTTP/2 to %s, and gathers nothing meanwhile", async (host) => {
    const warnings: string[] = [];
    const warn = ({ message }: Error) => warnings.push(message);
    process.on("warning", warn);
    for (const one of [upstream, old])
      one.handler = (_request, response, body) => (response as ServerResponse).end(String(body.length));
    const session = await proxy.http2(host);
    const stream = session.request({ ":path": "/", ":method": "POST", ":authority": host });
    let heard = "";
    stream.on("data", (part: Buffer) => (heard += part.toString()));
    stream.end(Buffer.alloc(20_000_000, "some words "));
    await new Promise((done) => stream.once("close", done));
    session.close();
    process.off("warning", warn);
    expect([heard, warnings]).toEqual(["20000000", []]);
  });

  it("carries words of one request both ways as they come", async () => {
    const [usual] = upstream.secure.listeners("request") as (() => void)[];
    upstream.secure.removeAllListeners("request").on("request", (request, response) => {
      request.on("data", (part: Buffer) => response.write(`heard ${part.toString()}`));
      request.on("end", () => response.end());
    });
    const session = await proxy.http2(BOTH);
    const stream = session.request({ ":path": "/", ":method": "POST", ":authority": BOTH });
    let heard = "";
    stream.on("data", (part: Buffer) => (heard += part.toString()));
    for (const word of ["one", "two", "three"]) {
      stream.write(word);
      await expect.poll(() => heard).toMatch(new RegExp(`heard ${word}$`));
    }
    stream.end();
    await new Promise((done) => stream.once("close", done));
    expect(heard).toBe("heard oneheard twoheard three");
    session.close();
    upstream.secure.removeAllListeners("request").on("request", usual ?? (() => undefined));
  });

  it("carries a request of HTTP/1.1 to an upstream that speaks HTTP/2 alone", async () => {
    for (const body of ["small", "x".repeat(400_000)]) {
      const { status, text, headers, trailers } = await proxy.ask(`https://${NEW}/down?x=1`, { body });
      expect([status, JSON.parse(text), headers["x-told"], trailers["x-sum"]]).toEqual([
        201,
        ["POST", NEW, "/down?x=1", null, body],
        "yes",
        "1",
      ]);
    }
  });
});

describe("a client that offers to go on in HTTP/2, as Java does where it finds a host by its name", () => {
  const offer = (body: string) =>
    `POST /offer HTTP/1.1\r\nhost: ${PLAIN}\r\nconnection: Upgrade, HTTP2-Settings\r\nupgrade: h2c\r\nhttp2-settings: AAMAAABkAAQAAP__\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
  const large = "x".repeat(200_000);
  const open = () => proxy.tunnel(`${PLAIN}:80`);

  it("is answered as if it had not, again and again", async () => {
    const socket = await open();
    let heard = "";
    socket.on("data", (part: Buffer) => (heard += part.toString()));
    const hears = (count: number) => expect.poll(() => heard.split("upstream saw POST /offer").length - 1).toBe(count);
    socket.write(offer("small").slice(0, -2));
    await sleep(20);
    socket.write(offer("small").slice(-2));
    await hears(1);
    socket.write(offer(large));
    await hears(2);
    expect(heard).not.toMatch(/HTTP\/1.1 (?!200)/);
    socket.destroy();
    expect(upstream.seen.map(({ body }) => body.toString())).toEqual(["small", large]);
    expect(upstream.seen.flatMap(({ headers }) => [headers.upgrade, headers["http2-settings"]])).toEqual(
      Array.from({ length: 4 }),
    );
  });

  it("is asked about all the same", async () => {
    const both = offer("x").replace("upgrade: h2c", "upgrade: h2c\r\ntransfer-encoding: chunked");
    const twice = offer("x").replace("upgrade: h2c", "upgrade: h2c\r\nupgrade: h2c");
    for (const bytes of [offer(SECRET), both, twice])
      expect(await proxy.raw(bytes, await open())).toMatch(/^HTTP\/1.1 4\d\d /);
    expect(upstream.seen).toEqual([]);
  });
});

describe("a client that waits for a word before it sends its body", () => {
  const head = (host: string, more = "") =>
    `POST ${more}/up HTTP/1.1\r\nhost: ${host}\r\nexpect: 100-continue\r\ncontent-length: 5\r\nconnection: close\r\n\r\n`;

  it.each([
    ["in a tunnel", OLD, () => proxy.secure(OLD), ""],
    ["of the proxy", PLAIN, () => Promise.resolve(undefined), `http://${PLAIN}`],
  ])("hears 100 when its head may go out, %s", async (_where, host, open, more) => {
    const socket = (await open()) ?? connect(proxy.port, "127.0.0.1");
    let heard = "";
    socket.on("data", (part: Buffer) => (heard += part.toString()));
    socket.write(head(host, more));
    await expect.poll(() => heard).toBe("HTTP/1.1 100 Continue\r\n\r\n");
    socket.write("hello");
    await expect.poll(() => heard).toMatch(/^HTTP\/1.1 100 Continue\r\n\r\nHTTP\/1.1 200 OK[^]*upstream saw POST \/up/);
    const { seen } = host === OLD ? old : upstream;
    expect(seen.map(({ body, headers }) => [body.toString(), headers["expect"]])).toEqual([["hello", undefined]]);
  });

  it("hears why not, and sends nothing, when it may not", async () => {
    const leak = (text: string) => text.replace("expect", `x-note: ${SECRET}\r\nexpect`);
    const unlisted = head("unlisted.example.test", "http://unlisted.example.test");
    for (const bytes of [unlisted, leak(head(PLAIN, `http://${PLAIN}`))])
      expect(await proxy.raw(bytes)).toMatch(/^HTTP\/1.1 403 /);
    expect(await proxy.raw(leak(head(OLD)), await proxy.secure(OLD))).toMatch(/^HTTP\/1.1 403 /);
    expect([...upstream.seen, ...old.seen]).toEqual([]);
  });
});

describe("connections", () => {
  it("are kept on both sides for the next request", async () => {
    let count = 0;
    old.secure.on("secureConnection", () => count++);
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const socket = await proxy.secure(OLD);
    agent.createConnection = () => socket;
    for (const path of ["/one", "/two", "/three"]) {
      const text = await new Promise<string>((done, fail) => {
        const call = request({ agent, path, headers: { host: OLD } }, (response) => {
          let all = "";
          response.on("data", (part: Buffer) => (all += part.toString())).once("end", () => done(all));
        });
        call.once("error", fail).end();
      });
      expect(text).toBe(`upstream saw GET ${path}\n`);
    }
    socket.destroy();
    expect(count).toBeLessThan(2);
  });

  it("end with the client that waits for an answer", async () => {
    const patient = await new TestProxy({ routes: [old.route(OLD)] }).listen();
    const over = new Promise<void>((done) => {
      old.handler = (_request, response) => void (response as ServerResponse).once("close", done);
    });
    const client = await patient.secure(OLD);
    client.write(`GET /long HTTP/1.1\r\nhost: ${OLD}\r\n\r\n`);
    await expect.poll(() => old.seen.length).toBe(1);
    client.destroy();
    await over;
    await patient[Symbol.asyncDispose]();
  });

  it("that are lost have their request sent again only when they were kept: an upstream may have done it", async () => {
    const heard: string[] = [];
    let count = 0;
    const server = createServer((socket) => {
      const own = ++count;
      socket.on("error", () => undefined);
      socket.on("data", (part: Buffer) => {
        heard.push(`${own} ${part.toString().split(" ")[1] ?? ""}`);
        if (part.includes("/kept")) socket.write("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok");
        else if (own === 1) socket.destroy();
        else socket.end();
      });
    });
    const lost = await new TestProxy({
      routes: [routeFor(PLAIN, { connect: `127.0.0.1:${await listening(server)}` })],
    }).listen();
    const ask = async (path: string) =>
      (await lost.plain(`http://${PLAIN}${path}`, { method: "POST", body: "x" })).status;
    expect([await ask("/kept"), await ask("/again"), await ask("/new")]).toEqual([200, 502, 502]);
    expect(heard).toEqual(["1 /kept", "1 /again", "2 /again", "3 /new"]);
    await lost[Symbol.asyncDispose]();
    server.close();
  });

  it("that became WebSockets may be silent for as long as they like; what waits for an answer may not", async () => {
    const served = new Promise<Socket>((done) =>
      old.secure.once("upgrade", (_request, socket: Socket) => {
        socket.on("error", () => undefined).resume();
        socket.write("HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n");
        done(socket);
      }),
    );
    const client = await proxy.secure(OLD);
    client.write(
      `GET / HTTP/1.1\r\nHost: ${OLD}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n`,
    );
    const server = await served;
    await new Promise((done) => client.once("data", done));
    await sleep(3 * SILENCE_MS);
    const next = new Promise<Buffer>((done) => client.once("data", done));
    server.write(frame(1, Buffer.from("still there")));
    expect((await next).toString()).toContain("still there");
    client.destroy();
    server.destroy();
    old.handler = (_request, response) => void (response as ServerResponse).write("a beginning");
    await expect(proxy.ask(`https://${OLD}/silent`)).rejects.toThrow();
  });

  it("go on over a change of the policy: a WebSocket, and a stream of events", async () => {
    const changing = await new TestProxy({ routes: [old.route(OLD)] }).listen();
    let tell = (_text: string) => undefined as unknown;
    old.handler = (_request, response) => {
      const to = response as ServerResponse;
      to.writeHead(200, { "content-type": "text/event-stream" });
      to.write("data: first\n\n");
      tell = (text) => (text === "" ? to.end() : to.write(text));
    };
    old.secure.once("upgrade", (_request, socket: Socket) => {
      socket.on("error", () => undefined).on("data", (part: Buffer) => socket.write(frame(2, part.subarray(6))));
      socket.write("HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n");
    });
    const talk = await changing.secure(OLD);
    talk.write(
      `GET / HTTP/1.1\r\nHost: ${OLD}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n`,
    );
    await new Promise((done) => talk.once("data", done));
    const events = await changing.secure(OLD);
    let heard = "";
    events.on("data", (part: Buffer) => (heard += part.toString()));
    events.write(`GET /events HTTP/1.1\r\nHost: ${OLD}\r\n\r\n`);
    await expect.poll(() => heard).toContain("data: first");
    changing.obey({ routes: [] });
    await expect(changing.tunnel(`${OLD}:443`)).rejects.toThrow("403");
    tell("data: second\n\n");
    await expect.poll(() => heard).toContain("data: second");
    const answer = new Promise<Buffer>((done) => talk.once("data", done));
    talk.write(frame(2, Buffer.from("on it goes"), { isMasked: true }));
    expect((await answer).toString()).toContain("on it goes");
    tell("");
    talk.destroy();
    events.destroy();
    await changing[Symbol.asyncDispose]();
  });
});
