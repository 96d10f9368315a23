import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TestProxy, Upstream } from "../../../test/helpers/egress-proxy.ts";

const HOST = "api.example.test";
let upstream: Upstream;
let proxy: TestProxy;

beforeAll(async () => {
  upstream = await new Upstream().listen([HOST]);
  proxy = await new TestProxy({ routes: [upstream.route(HOST)] }).listen();
});

afterAll(async () => {
  await proxy[Symbol.asyncDispose]();
  await upstream[Symbol.asyncDispose]();
});

const head = (lines: string[], start = "POST / HTTP/1.1"): string =>
  [start, `Host: ${HOST}`, ...lines, "", ""].join("\r\n");

const UPGRADE = ["Upgrade: websocket", "Connection: Upgrade"];
const VERSION = "Sec-WebSocket-Version: 13";
const KEY = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==";
const SOCKET = [...UPGRADE, VERSION, KEY];

describe("G-37 a request that can be read in two ways", () => {
  it.each([
    ["two lengths", `${head(["Content-Length: 5", "Content-Length: 6"])}hello!`],
    ["a list of lengths", `${head(["Content-Length: 5, 5"])}hello`],
    ["a length and chunks", `${head(["Content-Length: 5", "Transfer-Encoding: chunked"])}0\r\n\r\n`],
    ["a length with a sign", `${head(["Content-Length: +5"])}hello`],
    ["a space before the colon", `${head(["Content-Length : 5"])}hello`],
    ["another transfer encoding", `${head(["Transfer-Encoding: gzip, chunked"])}0\r\n\r\n`],
    ["a transfer encoding with a tab", `${head(["Transfer-Encoding:\x0bchunked"])}0\r\n\r\n`],
    ["chunked twice", `${head(["Transfer-Encoding: chunked, chunked"])}0\r\n\r\n`],
    ["a chunk whose size is no number", `${head(["Transfer-Encoding: chunked"])}0x5\r\nhello\r\n0\r\n\r\n`],
    ["a chunk that is longer than it says", `${head(["Transfer-Encoding: chunked"])}3\r\nhello\r\n0\r\n\r\n`],
    ["a chunk that ends in a line feed alone", `${head(["Transfer-Encoding: chunked"])}5\nhello\n0\n\n`],
    ["two hosts", head([`Host: ${HOST}`], "GET / HTTP/1.1")],
    ["no host", "GET / HTTP/1.1\r\n\r\n"],
    ["a folded header", head(["X-A: b", " c"], "GET / HTTP/1.1")],
    ["a line feed in a value", head(["X-A: b\nX-B: c"], "GET / HTTP/1.1").replace("\r\nX-B", "\nX-B")],
    ["a carriage return in a value", head(["X-A: b\rX-B: c"], "GET / HTTP/1.1")],
    ["a zero in a value", head(["X-A: b\0c"], "GET / HTTP/1.1")],
    ["TRACE", head([], "TRACE / HTTP/1.1")],
    ["CONNECT in a tunnel", head([], "CONNECT other.example.test:443 HTTP/1.1")],
    ["a method in small letters", head([], "get / HTTP/1.1")],
    ["a target with a space", head([], "GET /a b HTTP/1.1")],
    ["a whole URL of another host", head([], "GET https://other.example.test/ HTTP/1.1")],
    ["another version", head([], "GET / HTTP/3.0")],
    ["an upgrade to something else", head(["Connection: Upgrade", "Upgrade: h2c"], "GET / HTTP/1.1")],
    ["chunks in HTTP/1.0", `${head(["Transfer-Encoding: chunked"], "POST / HTTP/1.0")}0\r\n\r\n`],
    ["a length with a zero before it", `${head(["Content-Length: 05"])}hello`],
    ["HTTP/2 in letters", head([], "GET / HTTP/2.0")],
    ["a star for another method than OPTIONS", head([], "GET * HTTP/1.1")],
    ["a WebSocket with a body", `${head([...SOCKET, "Content-Length: 5"], "GET / HTTP/1.1")}hello`],
    ["a WebSocket with chunks", `${head([...SOCKET, "Transfer-Encoding: chunked"], "GET / HTTP/1.1")}0\r\n\r\n`],
    ["a head without end", `GET / HTTP/1.1\r\nHost: ${HOST}\r\nX-A: ${"a".repeat(200_000)}\r\n\r\n`],
  ])("is refused: %s", async (_what, bytes) => {
    upstream.seen.length = 0;
    const answer = await proxy.raw(bytes, await proxy.secure(HOST));
    expect(answer).toMatch(/^(?:HTTP\/1\.1 4\d\d |$)/);
    expect(upstream.seen.filter(({ complete }) => complete)).toEqual([]);
  });

  it("leaves nothing behind that the next one is read with", async () => {
    upstream.seen.length = 0;
    const two = `${head(["Content-Length: 5"])}hello${head([], "GET /second HTTP/1.1")}`;
    const answer = await proxy.raw(two, await proxy.secure(HOST));
    expect(answer.match(/HTTP\/1\.1 200/g)).toHaveLength(2);
    expect(upstream.seen.map(({ url, body }) => [url, body.toString()]).sort()).toEqual([
      ["/", "hello"],
      ["/second", ""],
    ]);
  });
});

describe("G-195 a WebSocket that is none for a server", () => {
  it.each([
    ["no key", [VERSION]],
    ["a key of one byte", [VERSION, "Sec-WebSocket-Key: eA=="]],
    ["a key that is text", [VERSION, "Sec-WebSocket-Key: any words at all"]],
    ["two keys", [VERSION, KEY, KEY]],
    ["no version", [KEY]],
    ["an old version", [KEY, "Sec-WebSocket-Version: 8"]],
    ["two versions", [KEY, VERSION, "Sec-WebSocket-Version: 8"]],
  ])("is refused: %s", async (_what, lines) => {
    upstream.seen.length = 0;
    const answer = await proxy.raw(head([...UPGRADE, ...lines], "GET / HTTP/1.1"), await proxy.secure(HOST));
    expect(answer).toMatch(/^HTTP\/1\.1 403 .*EGRESS_DENIED/s);
    expect(upstream.seen).toEqual([]);
  });
});

it("G-187 no rule about a header lets a request pass that goes on without it", async () => {
  const matches = [{ headers: [{ name: "x-dry-run", value: "yes" }] }];
  const sockets = [{ headers: [{ name: "upgrade", value: "websocket" }] }, ...matches];
  for (const rules of [matches, sockets]) {
    proxy.obey({ routes: [upstream.route(HOST, { matches: rules })] });
    upstream.seen.length = 0;
    const ask = async (lines: string[]) => await proxy.raw(head(lines, "GET / HTTP/1.1"), await proxy.secure(HOST));
    expect(await ask(["X-Dry-Run: yes"])).toMatch(/^HTTP\/1\.1 200 /);
    for (const connection of ["x-dry-run", "keep-alive, X-Dry-Run", "close,x-dry-run,te"])
      expect(await ask(["X-Dry-Run: yes", `Connection: ${connection}`])).toMatch(/^HTTP\/1\.1 403 .*EGRESS_DENIED/s);
    expect(upstream.seen.map(({ headers }) => headers["x-dry-run"])).toEqual(["yes"]);
  }
  // What is for the connection to the gate may be asked for all the same.
  expect(await proxy.raw(head(SOCKET, "GET / HTTP/1.1"), await proxy.secure(HOST))).not.toContain("EGRESS_DENIED");
  proxy.obey({ routes: [upstream.route(HOST)] });
});

describe("G-38 a CONNECT", () => {
  const connect = (lines: string[], body = ""): string =>
    [`CONNECT ${HOST}:443 HTTP/1.1`, ...lines, "", body].join("\r\n");

  it.each([
    ["names another host", connect(["Host: other.example.test"])],
    ["names another port", connect([`Host: ${HOST}:80`])],
    ["names two hosts", connect([`Host: ${HOST}:443`, "Host: other.example.test"])],
    ["has a body", connect([`Host: ${HOST}:443`, "Content-Length: 5"], "hello")],
    ["has chunks", connect([`Host: ${HOST}:443`, "Transfer-Encoding: chunked"], "0\r\n\r\n")],
  ])("is refused when it %s", async (_what, bytes) => {
    expect(await proxy.raw(bytes)).toMatch(/^HTTP\/1\.1 403 .*EGRESS_DENIED/s);
  });

  it.each([
    ["the host and the port", connect([`Host: ${HOST}:443`])],
    ["the host alone", connect([`Host: ${HOST.toUpperCase()}`])],
    ["the proxy, as Node.js has it unless told", connect(["Host: 127.0.0.1:9099"])],
    ["no host, as old clients do", connect([]).replace("1.1", "1.0")],
    ["a length of nothing", connect([`Host: ${HOST}:443`, "Content-Length: 0"])],
  ])("is taken with %s", async (_what, bytes) => {
    expect(await proxy.raw(bytes)).toMatch(/^HTTP\/1\.1 200 /);
  });
});
