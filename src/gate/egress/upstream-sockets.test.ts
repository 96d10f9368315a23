import type { ServerResponse } from "node:http";
import { expect, it } from "vitest";
import { TestProxy, Upstream } from "../../../test/helpers/egress-proxy.ts";

const HOST = "api.example.test";

it("keeps a connection to an upstream for the next request, and no longer than both want it", async () => {
  await using upstream = await new Upstream().listen([HOST]);
  await using proxy = await new TestProxy({ routes: [upstream.route(HOST)] }).listen();
  let made = 0;
  upstream.secure.on("secureConnection", () => made++);
  const asked = async (path: string) => (await proxy.ask(`https://${HOST}${path}`, { body: "a body" })).status;
  expect([await asked("/1"), await asked("/2"), await asked("/3")]).toEqual([200, 200, 200]);
  expect(made).toBe(1);
  upstream.handler = (_request, response) => (response as ServerResponse).writeHead(200, { connection: "close" }).end();
  expect([await asked("/4"), await asked("/5"), await asked("/6")]).toEqual([200, 200, 200]);
  expect(made).toBe(3);
});
