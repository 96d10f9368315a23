import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { once } from "node:events";
import { expect, it } from "vitest";
import { userOfSocket } from "./loopback-users.ts";

it("tells whose socket is at the other end, over IPv4 and by a socket of IPv6, and who listens", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const listening = { address: "127.0.0.1", port };
  expect(await userOfSocket(listening)).toBe(process.getuid?.());
  for (const host of ["127.0.0.1", "::ffff:127.0.0.1"]) {
    const accepted = once(server, "connection") as Promise<[Socket]>;
    const client = connect({ port, host });
    const [socket] = await accepted;
    const from = { address: "127.0.0.1", port: socket.remotePort ?? 0 };
    expect(await userOfSocket(from, listening), host).toBe(process.getuid?.());
    expect(await userOfSocket({ ...from, address: "127.0.0.2" }, listening)).toBeUndefined();
    // Of a socket that is closed the kernel would say root.
    const closed = once(client, "close");
    client.destroy();
    await closed;
    expect(await userOfSocket(from, listening), host).toBeUndefined();
    socket.destroy();
  }
  server.close();
  await once(server, "close");
  expect(await userOfSocket(listening)).toBeUndefined();
});
