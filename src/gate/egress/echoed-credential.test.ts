import { randomBytes } from "node:crypto";
import type { ServerResponse } from "node:http";
import { afterAll, beforeAll, expect, it } from "vitest";
import { TestProxy, Upstream, bearer } from "../../../test/helpers/egress-proxy.ts";

const API = "api.example.test";
const OTHER = "other.example.test";
const TOKEN = `tok-${randomBytes(20).toString("hex")}`;

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
