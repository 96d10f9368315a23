import { type Server, type Socket, createServer } from "node:net";
import { createServer as createTls } from "node:tls";
import { afterEach, expect, it } from "vitest";
import { listening } from "../../../test/helpers/egress-proxy.ts";
import { Authority, newAuthority } from "../tls/authority.ts";
import { connectThroughProxy } from "./way-out.ts";

const PATIENCE_MS = 400;
const keys = newAuthority("proxy");
const opened = new Set<Socket>();
let server: Server | undefined;

afterEach(() => {
  for (const socket of opened) socket.destroy();
  opened.clear();
  server?.close();
});

/** A proxy that answers in its own way; what it was asked comes first. */
async function proxyThat(answer: (socket: Socket, head: string) => void, isSecure = false): Promise<number> {
  const serve = (socket: Socket): void => {
    opened.add(socket);
    socket.on("error", () => undefined);
    socket.once("data", (head: Buffer) => answer(socket, head.toString()));
  };
  const context = new Authority("proxy", keys).files("localhost");
  server = isSecure ? createTls({ key: context.key, cert: context.chain }, serve) : createServer(serve);
  return await listening(server);
}

const through = (proxy: string, ca: string | null = null): Promise<Socket> =>
  connectThroughProxy({ proxy, ca }, "api.example.test", 443, PATIENCE_MS);

it("asks a proxy for the host by its name, with the name and the password of its URL, and takes what comes after its answer", async () => {
  let asked = "";
  const port = await proxyThat((socket, head) => {
    asked = head;
    socket.write("HTTP/1.1 200 OK\r\nx-a: b\r\n\r\nand more");
  });
  const socket = await through(`http://me:p%40ss@127.0.0.1:${port}`);
  const more = await new Promise<Buffer>((done) => socket.once("data", done));
  socket.destroy();
  expect(more.toString()).toBe("and more");
  expect(asked.split("\r\n")).toEqual([
    "CONNECT api.example.test:443 HTTP/1.1",
    "Host: api.example.test:443",
    `Proxy-Authorization: Basic ${Buffer.from("me:p@ss").toString("base64")}`,
    "",
    "",
  ]);
});

it("speaks TLS to a proxy whose authority the configuration names, and says nothing of a password that there is not", async () => {
  let asked = "";
  const port = await proxyThat((socket, head) => {
    asked = head;
    socket.write("HTTP/1.1 200 OK\r\n\r\n");
  }, true);
  (await through(`https://localhost:${port}`, keys.certificate)).destroy();
  expect(asked).not.toContain("Authorization");
});

it.each([
  ["refuses", (socket: Socket) => socket.end("HTTP/1.1 407 No\r\n\r\n"), /answers 407 for api\.example\.test/],
  ["never answers", () => undefined, /no answer in time/],
  [
    "answers without end",
    (socket: Socket) => void socket.write(`HTTP/1.1 200 OK\r\nx: ${"y".repeat(40_000)}`),
    /too long/,
  ],
  ["speaks something else", (socket: Socket) => socket.end("SSH-2.0-x\r\n\r\n\r\n"), /does not speak HTTP/],
  ["hangs up", (socket: Socket) => socket.end(), /closed the connection/],
])("says so when the proxy %s", async (_how, answer, told) => {
  const port = await proxyThat(answer);
  await expect(through(`http://127.0.0.1:${port}`)).rejects.toThrow(told);
  await expect.poll(() => [...opened].every((socket) => socket.destroyed || socket.readableEnded)).toBe(true);
});

it("says so when the proxy takes no handshake, and waits no longer than for its answer", async () => {
  const port = await proxyThat(() => undefined);
  await expect(through(`https://localhost:${port}`)).rejects.toThrow(/no answer in time/);
});
