import { afterAll, beforeAll, expect, it } from "vitest";
import { TestProxy, Upstream, routeFor } from "../../../test/helpers/egress-proxy.ts";
import type { EgressOrder } from "../../model/egress-order.ts";
import { newAuthority } from "../tls/authority.ts";

const HOST = "api.example.test";
const WRONG = "wrong-name.example.test";

let upstream: Upstream;
let proxy: TestProxy;

beforeAll(async () => {
  upstream = await new Upstream().listen([HOST]);
  proxy = await new TestProxy().listen();
});

afterAll(async () => {
  await proxy[Symbol.asyncDispose]();
  await upstream[Symbol.asyncDispose]();
});

interface Told {
  readonly error: { readonly code: string; readonly message: string; readonly hint: string };
}

async function ask(order: Partial<EgressOrder>, host = HOST): Promise<Told["error"]> {
  proxy.obey(order);
  const { status, text } = await proxy.ask(`https://${host}/`);
  expect(status).toBe(502);
  return (JSON.parse(text) as Told).error;
}

const inside = (more = {}) => routeFor(HOST, { connect: `127.0.0.1:${upstream.port}`, ...more });

it("names egress.ca where nobody who is trusted has signed the upstream's certificate", async () => {
  const { code, message, hint } = await ask({ routes: [inside()] });
  expect([code, message]).toEqual(["UPSTREAM_FAILED", expect.stringMatching(/issuer.*not trusted \([A-Z_]+\)/)]);
  expect(hint).toContain("egress.ca in the configuration");
});

it("and that helps", async () => {
  proxy.obey({ routes: [inside()], way_out: { proxy: null, ca: upstream.keys.certificate } });
  expect((await proxy.ask(`https://${HOST}/`)).status).toBe(200);
});

it("names the route's own ca where that alone is trusted", async () => {
  const { hint } = await ask({ routes: [inside({ ca: newAuthority("other").certificate })] });
  expect(hint).toContain("the ca of this route");
  expect(hint).not.toContain("egress.ca");
});

it("names egress.ca for a proxy of the host's as well", async () => {
  const { message, hint } = await ask({
    routes: [routeFor(HOST)],
    way_out: { proxy: `https://localhost:${upstream.port}`, ca: null },
  });
  expect(message).toMatch(/the proxy localhost:\d+: the issuer of its certificate is not trusted/);
  expect(hint).toContain("egress.ca in the configuration");
});

it("names it to a WebSocket too", async () => {
  proxy.obey({ routes: [inside()] });
  const socket = await proxy.secure(HOST);
  const handshake = "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
  const head = `GET / HTTP/1.1\r\nhost: ${HOST}\r\nconnection: Upgrade\r\nupgrade: websocket\r\n${handshake}\r\n`;
  expect(await proxy.raw(head, socket)).toContain("egress.ca in the configuration");
});

it("does not name it for a certificate of another host", async () => {
  const route = upstream.route(WRONG);
  const { message, hint } = await ask({ routes: [route] }, WRONG);
  expect(message).toContain("ERR_TLS_CERT_ALTNAME_INVALID");
  expect(hint).not.toContain("egress.ca");
});
