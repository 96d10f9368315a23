import type { ServerResponse } from "node:http";
import { expect, it } from "vitest";
import { type Socket, connect, createServer } from "node:net";
import { TestProxy, Upstream, listening } from "../../../test/helpers/egress-proxy.ts";
import { UpstreamSockets } from "./upstream-sockets.ts";

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

it("asks again where a kept connection turns out to be closed, and not where an upstream only takes long", async () => {
  await using upstream = await new Upstream().listen([HOST]);
  await using proxy = await new TestProxy({ routes: [upstream.route(HOST)] }, { headMs: 300 }).listen();
  const session = await proxy.http2(HOST);
  const over2 = (path: string) =>
    new Promise<number>((done) => {
      const stream = session.request({ ":path": path, ":method": "POST" });
      stream.once("response", (headers) => done(headers[":status"] ?? 0)).resume();
      stream.end("a body");
    });
  const over1 = async (path: string) => (await proxy.ask(`https://${HOST}${path}`, { body: "a body" })).status;
  const usual = upstream.handler;
  for (const ask of [over1, over2]) {
    expect(await ask("/first")).toBe(200);
    upstream.seen.length = 0;
    // The first time it goes away without a word.
    upstream.handler = () => {
      upstream.handler = usual;
      for (const socket of upstream.sockets) socket.destroy();
    };
    expect([ask.name, await ask("/again"), upstream.seen.map(({ url }) => url)]).toEqual([
      ask.name,
      200,
      ["/again", "/again"],
    ]);
    upstream.seen.length = 0;
    upstream.handler = () => undefined;
    expect([await ask("/slow"), upstream.seen.map(({ url }) => url)]).toEqual([502, ["/slow"]]);
    upstream.handler = usual;
  }
  session.destroy();
});

it("G-28 opens at most 128 connections to one upstream, and whoever waits for one gets the next that is free", async () => {
  const served: Socket[] = [];
  const server = createServer((socket) => void served.push(socket.on("error", () => undefined)));
  const port = await listening(server);
  const sockets = new UpstreamSockets(
    () =>
      new Promise((done) => {
        const socket = connect(port, "127.0.0.1", () => done(socket));
      }),
    60_000,
  );
  const taken = await Promise.all(Array.from({ length: 128 }, () => sockets.take()));
  let isWaiting = true;
  const next = sockets.take().finally(() => (isWaiting = false));
  await expect.poll(() => served.length).toBe(128);
  expect(isWaiting).toBe(true);
  const [first] = taken;
  if (first) sockets.give(first.socket, true);
  expect(await next).toEqual({ socket: first?.socket, isReused: true });
  expect(served).toHaveLength(128);
  for (const { socket } of taken) socket.destroy();
  server.close();
});
