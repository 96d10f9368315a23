import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { connect, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Duplex } from "node:stream";
import { buffer, text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { dataPayload, FakeGuest, helloPayload, pack, settle } from "../../test/guest/fake-guest.ts";
import { encodeFrame } from "./codec.ts";
import { GUEST, HOST, MAGIC } from "./frame-types.ts";
import { WINDOW_BYTES } from "./output-window.ts";

const inputCredit = pack(["u8", 0], ["u32", 1000]);
const end = (total: number) => pack(["u8", 1], ["u64", total]);

async function connected() {
  const guest = new FakeGuest();
  const client = await guest.connect();
  const opening = client.connectPort(8080);
  const { stream, payload } = await guest.frame(HOST.CONNECT);
  expect(payload).toEqual(pack(["u16", 8080], ["u32", WINDOW_BYTES]));
  guest.send(GUEST.OK, stream);
  return { guest, client, stream, socket: await opening };
}

describe("connectPort()", () => {
  it("carries both ways and ends when both have ended", async () => {
    const { guest, client, stream, socket } = await connected();
    guest.send(GUEST.CREDIT, stream, inputCredit);
    socket.end("ping");
    expect((await guest.frame(HOST.DATA)).payload.toString()).toBe("\0ping");
    await guest.frame(HOST.END);
    guest.send(GUEST.DATA, stream, dataPayload(1, 0, "po"));
    guest.send(GUEST.DATA, stream, dataPayload(1, 2, "ng"));
    guest.send(GUEST.END, stream, end(4));
    expect(await text(socket)).toBe("pong");
    await settle();
    expect(socket.destroyed).toBe(true);
    expect(guest.frames.some(({ type }) => type === HOST.DETACH)).toBe(false);
    client.close();
  });

  it("rejects when nothing listens", async () => {
    const guest = new FakeGuest();
    const client = await guest.connect();
    const opening = client.connectPort(81);
    guest.send(GUEST.ERROR, (await guest.frame(HOST.CONNECT)).stream, pack(["u32", 111], ["str", "refused"]));
    await expect(opening).rejects.toMatchObject({
      code: "PORT_FAILED",
      message: expect.stringContaining("81") as string,
    });
    await expect(client.connectPort(0)).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    await expect(client.connectPort(70_000)).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  });

  it("gives credit only as its reader reads", async () => {
    const { guest, stream, socket } = await connected();
    for (let at = 0; at < WINDOW_BYTES; at += 65_536) {
      guest.send(GUEST.DATA, stream, dataPayload(1, at, Buffer.alloc(65_536)));
    }
    await settle();
    expect(guest.frames.some(({ type }) => type === HOST.CREDIT)).toBe(false);
    socket.resume();
    expect((await guest.frame(HOST.CREDIT)).stream).toBe(stream);
  });

  it("detaches when it is destroyed", async () => {
    const { guest, stream, socket } = await connected();
    socket.destroy();
    expect((await guest.frame(HOST.DETACH)).stream).toBe(stream);
  });

  it("fails without an uncaught error when the sandbox is lost", async () => {
    const { guest, socket } = await connected();
    guest.own.end();
    await new Promise((resolve) => socket.once("close", resolve));
    expect(socket.errored).toMatchObject({ code: "SANDBOX_LOST" });
  });
});

describe("listen()", () => {
  async function listening(onConnection: (stream: Duplex) => void, conduit?: () => Promise<Socket>) {
    const guest = new FakeGuest();
    const client = await guest.connect(undefined, helloPayload(1, conduit ? 15 : 3));
    const opening = client.listen(9099, onConnection, conduit);
    const { stream } = await guest.frame(HOST.LISTEN);
    guest.send(GUEST.OK, stream);
    return { guest, client, stream, door: await opening };
  }

  it("hands on connections and gives them their first credit", async () => {
    const sockets: Duplex[] = [];
    const { guest, stream } = await listening((socket) => sockets.push(socket));
    guest.send(GUEST.INCOMING, stream, pack(["u32", 0x8000_0001]));
    const credit = await guest.frame(HOST.CREDIT);
    expect(credit).toMatchObject({ stream: 0x8000_0001, payload: pack(["u8", 1], ["u32", WINDOW_BYTES]) });
    guest.send(GUEST.DATA, 0x8000_0001, dataPayload(1, 0, "GET"));
    guest.send(GUEST.END, 0x8000_0001, end(3));
    expect(await text(sockets[0]!)).toBe("GET");
  });

  it("closes the door when disposed of", async () => {
    const { guest, stream, door } = await listening(() => undefined);
    await door[Symbol.asyncDispose]();
    expect((await guest.frame(HOST.DETACH)).stream).toBe(stream);
  });

  it("closes connections above the limit and goes on", async () => {
    const sockets: Duplex[] = [];
    const { guest, client, stream } = await listening((socket) => sockets.push(socket));
    for (let id = 1; id <= 600; id++) guest.send(GUEST.INCOMING, stream, pack(["u32", 0x8000_0000 + id]));
    await guest.frame(HOST.DETACH, 87);
    expect(sockets).toHaveLength(512);
    expect(guest.frames.filter(({ type }) => type === HOST.DETACH)).toHaveLength(88);
    client.close();
  });

  it("G-43 drops answers to datagrams of a guest that takes none, and answers on when it does", async () => {
    const guest = new FakeGuest();
    const client = await guest.connect(undefined, helloPayload(1, 7));
    const opening = client.listenForDatagrams(53, (data, answer) => answer(Buffer.concat([data, Buffer.alloc(1000)])));
    const { stream } = await guest.frame(HOST.LISTEN);
    guest.send(GUEST.OK, stream);
    await opening;
    guest.own.pause();
    const asked = encodeFrame(GUEST.DATAGRAM, stream, Buffer.concat([Buffer.alloc(6), Buffer.from("question")]));
    for (let round = 0; round < 100; round++) {
      guest.sendRaw(Buffer.concat(Array.from({ length: 100 }, () => asked)));
      await settle();
    }
    // Ten megabytes of answers, of which the first are kept.
    expect(guest.host.writableLength).toBeLessThan(2 * 1024 * 1024);
    guest.own.resume();
    await settle();
    const answered = guest.frames.length;
    guest.sendRaw(asked);
    await settle();
    expect(guest.frames.length).toBe(answered + 1);
    client.close();
  });

  it("G-28 ends the connection of a guest that connects on and takes no answer", async () => {
    const { guest, client, stream } = await listening((socket) => socket.destroy());
    guest.own.pause();
    const frames = Array.from({ length: 130_000 }, (_, at) =>
      encodeFrame(GUEST.INCOMING, stream, pack(["u32", 0x8000_0001 + at])),
    );
    guest.sendRaw(Buffer.concat(frames));
    expect(await client.closed).toMatchObject({ code: "GUEST_PROTOCOL" });
  });

  it("survives a handler that throws", async () => {
    const { guest, stream } = await listening(() => {
      throw new Error("handler");
    });
    guest.send(GUEST.INCOMING, stream, pack(["u32", 0x8000_0001]));
    expect((await guest.frame(HOST.DETACH)).stream).toBe(0x8000_0001);
  });

  describe("with a conduit for each connection", () => {
    const INCOMING = 0x8000_0001;
    let server: Server;
    let path: string;
    let taken: Socket[];
    beforeEach(async () => {
      taken = [];
      path = join(mkdtempSync(join(tmpdir(), "cloche-conduit-")), "socket");
      server = createServer((socket) => void taken.push(socket)).listen(path);
      await once(server, "listening");
    });
    afterEach(() => {
      for (const socket of taken) socket.destroy();
      server.close();
      rmSync(dirname(path), { recursive: true });
    });
    const conduit = async () => {
      const socket = connect(path);
      await once(socket, "connect");
      return socket;
    };

    it("names the connection on it first, and carries bytes as they are", async () => {
      const { guest, client, stream } = await listening((socket) => socket.end("answer"), conduit);
      guest.send(GUEST.INCOMING, stream, pack(["u32", INCOMING]));
      guest.send(GUEST.CREDIT, INCOMING, inputCredit);
      const [socket] = (await once(server, "connection")) as [Socket];
      const take = encodeFrame(HOST.TAKE, 0, pack(["u32", MAGIC], ["u16", 1], ["u32", INCOMING]));
      socket.end();
      expect(await text(socket)).toBe(take.toString("utf8") + "answer");
      // Whoever could not take it lets go of its side.
      expect((await guest.frame(HOST.DETACH)).stream).toBe(INCOMING);
      expect(guest.frames.some(({ type }) => type === HOST.CREDIT)).toBe(false);
      client.close();
    });

    it("ends them with the link that told of them", async () => {
      const { guest, stream } = await listening((socket) => socket.resume(), conduit);
      guest.send(GUEST.INCOMING, stream, pack(["u32", INCOMING]));
      const [socket] = (await once(server, "connection")) as [Socket];
      await settle();
      guest.own.end();
      expect((await buffer(socket)).length).toBe(19);
    });

    it("serves one in frames for which none can be had", async () => {
      const sockets: Duplex[] = [];
      const fail = () => Promise.reject(new Error("none"));
      const { guest, client, stream } = await listening((socket) => sockets.push(socket), fail);
      guest.send(GUEST.INCOMING, stream, pack(["u32", INCOMING]));
      expect((await guest.frame(HOST.CREDIT)).stream).toBe(INCOMING);
      guest.send(GUEST.DATA, INCOMING, dataPayload(1, 0, "GET"));
      guest.send(GUEST.END, INCOMING, end(3));
      expect(await text(sockets[0]!)).toBe("GET");
      client.close();
    });

    it("G-10 ends the connection of a guest that goes on in frames", async () => {
      const { guest, client, stream } = await listening(() => undefined, conduit);
      guest.send(GUEST.INCOMING, stream, pack(["u32", INCOMING]));
      await once(server, "connection");
      await settle();
      guest.send(GUEST.DATA, INCOMING, dataPayload(1, 0, "GET"));
      expect(await client.closed).toMatchObject({ code: "GUEST_PROTOCOL" });
    });
  });

  it.each([
    ["uses a number twice", [0x8000_0001, 0x8000_0001]],
    ["uses a number of the host", [5]],
  ])("ends the connection of a guest that %s", async (_name, ids) => {
    const { guest, client, stream } = await listening(() => undefined);
    for (const id of ids) guest.send(GUEST.INCOMING, stream, pack(["u32", id]));
    expect(await client.closed).toMatchObject({ code: "GUEST_PROTOCOL" });
  });
});
