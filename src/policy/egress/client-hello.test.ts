import { createServer } from "node:net";
import { type AddressInfo } from "node:net";
import { connect } from "node:tls";
import fc from "fast-check";
import { expect, it } from "vitest";
import { readFirstBytes } from "./client-hello.ts";

/** What Node's own client says first. */
async function helloFor(servername: string | undefined): Promise<Buffer> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as AddressInfo;
  const first = new Promise<Buffer>((done) => server.once("connection", (socket) => socket.once("data", done)));
  const client = connect({
    port,
    host: "127.0.0.1",
    ...(servername !== undefined && { servername }),
    rejectUnauthorized: false,
  });
  client.on("error", () => undefined);
  const bytes = await first;
  client.destroy();
  server.close();
  return bytes;
}

it("reads the name that a client asks for, however little has come", async () => {
  const hello = await helloFor("api.example.com");
  expect(readFirstBytes(hello)).toEqual({ kind: "tls", serverName: "api.example.com" });
  for (let length = 0; length < hello.length; length++)
    expect(readFirstBytes(hello.subarray(0, length)).kind).toBe("incomplete");
  expect(readFirstBytes(await helloFor(undefined))).toEqual({ kind: "tls", serverName: undefined });
  expect(readFirstBytes(Buffer.from("GET / HTTP/1.1\r\n")).kind).toBe("plain");
});

it("G-38 takes no hello with two names, and never throws", async () => {
  const hello = await helloFor("api.example.com");
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(hello.length - 1), fc.nat(255)), { maxLength: 8 }), (changes) => {
      const bytes = Buffer.from(hello);
      for (const [at, value] of changes) bytes[at] = value;
      expect(["tls", "broken", "plain", "incomplete"]).toContain(readFirstBytes(bytes).kind);
    }),
  );
});
