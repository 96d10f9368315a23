import { once } from "node:events";
import { type Socket, connect } from "node:net";
import { connect as connectTls } from "node:tls";
import { expect, it } from "vitest";
import { TestProxy, Upstream } from "../../../test/helpers/egress-proxy.ts";

const HOST = "api.example.test";
const COUNT = 1000;
const AT_ONCE = 50;

/** Of sockets that this process holds. */
const sockets = (): number =>
  process.getActiveResourcesInfo().filter((kind) => /^(?:TCP|TLS|Pipe).*Wrap$/.test(kind)).length;
const timers = (): number => process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length;

it("G-52 a thousand connections that are opened and dropped, at whatever point, leave nothing", async () => {
  await using upstream = await new Upstream().listen([HOST]);
  await using proxy = await new TestProxy({ routes: [upstream.route(HOST)] }).listen();
  // At once, after some bytes, in a tunnel, in a handshake, after it, with a request under way.
  const ways: (() => Promise<void>)[] = [
    async () => void (await opened()).destroy(),
    async () => void (await opened()).resume().end("GET http://"),
    async () => void (await proxy.tunnel(`${HOST}:443`)).destroy(),
    // Without an end: nothing but its close is heard of it.
    async () => void (await proxy.tunnel(`${HOST}:443`)).resetAndDestroy(),
    async () => {
      const socket = await proxy.tunnel(`${HOST}:443`);
      socket.end(Buffer.from("16030100ff010000fb0303", "hex"));
      socket.destroy();
    },
    // After a handshake, without a word that it is over.
    async () => {
      const socket = await proxy.tunnel(`${HOST}:443`);
      const secure = connectTls({ socket, servername: HOST, rejectUnauthorized: false }).on("error", () => undefined);
      await once(secure, "secureConnect");
      socket.end();
    },
    async () => {
      const socket = await proxy.secure(HOST);
      socket.write(`POST / HTTP/1.1\r\nHost: ${HOST}\r\nContent-Length: 100\r\n\r\npart`);
      socket.destroy();
    },
  ];
  const opened = () =>
    new Promise<Socket>((done) => {
      const socket = connect(proxy.port, "127.0.0.1", () => done(socket));
      socket.on("error", () => undefined);
    });
  const before = sockets();
  for (let count = 0; count < COUNT; count += AT_ONCE)
    await Promise.all(Array.from({ length: AT_ONCE }, async (_, at) => await ways[at % ways.length]?.()));
  await expect.poll(sockets, { timeout: 10_000 }).toBeLessThanOrEqual(before);
  expect(timers()).toBeLessThan(10);
  expect((await proxy.ask(`https://${HOST}/after`)).status).toBe(200);
});
