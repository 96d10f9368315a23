import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { TestProxy, Upstream } from "../../../test/helpers/egress-proxy.ts";

const HOST = "api.example.test";
const HELD = "held.example.test";
const SECRET = "sec-4f9d1c70b2e84ac6a5d39e6b";

let upstream: Upstream;
let proxy: TestProxy;

beforeAll(async () => {
  upstream = await new Upstream().listen([HOST, HELD]);
  const supervise = { outbound_detectors: null, inbound_detectors: [], outbound_on_match: "supervise" as const };
  proxy = await new TestProxy({
    log: "blocks",
    way_out: { proxy: null, ca: null },
    routes: [upstream.route(HOST), upstream.route(HELD, { dlp: supervise })],
    guarded: [{ kind: "known_secrets", name: "NOTE", value: SECRET }],
  }).listen();
});

afterAll(async () => {
  await proxy[Symbol.asyncDispose]();
  await upstream[Symbol.asyncDispose]();
});

afterEach(() => {
  proxy.events.length = 0;
});

describe("a refusal says why, to who has asked and in the log", () => {
  it.each([
    ["in a tunnel", () => proxy.secure(HOST), HOST],
    ["to the proxy", () => undefined, ""],
  ])("where the parser reads no request, %s", async (_where, connection, host) => {
    const socket = await connection();
    const answer = await proxy.raw(`GET /caf\u00e9 HTTP/1.1\r\nHost: ${HOST}\r\n\r\n`, socket);
    const [head = "", body = ""] = answer.split("\r\n\r\n");
    expect(head).toMatch(/^HTTP\/1\.1 400 Bad Request\r\ncontent-type: application\/json\r\n/);
    const { error } = JSON.parse(body) as { error: object };
    expect(error).toMatchObject({ code: "BAD_REQUEST", host, hint: expect.stringContaining("plain form") as string });
    expect(error).toMatchObject({ message: expect.stringMatching(/^The gate cannot read this: Invalid/) as string });
    expect(proxy.events).toMatchObject([{ kind: "egress.denied", code: "BAD_REQUEST", host }]);
  });

  it.each(["http://10.0.0.1/", "http://[::1]:8080/x", "/no-url"])(
    "where %s is for no name of a host",
    async (target) => {
      const answer = await proxy.raw(`GET ${target} HTTP/1.1\r\nHost: 10.0.0.1\r\nConnection: close\r\n\r\n`);
      expect(answer).toMatch(/^HTTP\/1\.1 403 [^]*it is for no name of a host, with a whole URL; an address is none/);
    },
  );

  it("in the first line, where a tool shows no more of a tunnel that it did not get", async () => {
    const ask = async (to: string) =>
      (await proxy.raw(`CONNECT ${to} HTTP/1.1\r\nHost: ${to}\r\n\r\n`)).split("\r\n")[0];
    expect(await ask("other.example.test:443")).toBe(
      "HTTP/1.1 403 Forbidden: The host other.example.test is not listed",
    );
    expect(await ask(`${HOST}:22`)).toBe(`HTTP/1.1 403 Forbidden: Port 22 of ${HOST} is not listed`);
    expect(await ask(`${SECRET}.example.test:443`)).not.toContain(SECRET);
  });

  it("with what can be done about a path that has two readings", async () => {
    const { status, text } = await proxy.ask(`https://${HOST}/a//b`);
    expect([status, text]).toEqual([403, expect.stringContaining("Send the request again in its plain form")]);
  });

  it("with what was found in a request that nobody let pass", async () => {
    const body = JSON.stringify({ note: SECRET });
    expect((await proxy.ask(`https://${HELD}/`, { method: "POST", body })).status).toBe(403);
    expect(proxy.events).toMatchObject([
      { code: "DLP_BLOCKED", findings: [{ detector: "known_secrets", name: "NOTE" }] },
    ]);
  });
});
