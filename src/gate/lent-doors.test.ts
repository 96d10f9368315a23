import { once } from "node:events";
import { type AddressInfo, type Server, type Socket, connect, createServer } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { LentDoors } from "./lent-doors.ts";

describe("lent doors", () => {
  let server: Server;
  let asked: number[];
  let bring: (door: number, socket: Socket) => void;
  let came: [number, Socket][];
  let lent: LentDoors;

  beforeEach(async () => {
    server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    asked = [];
    came = [];
    const borrowing = {
      borrow: (door: number) => void asked.push(door),
      onLent: (take: typeof bring) => (bring = take),
    };
    lent = new LentDoors(borrowing, (port, socket) => came.push([port, socket]));
  });

  afterEach(() => server.close());

  async function connected(): Promise<Socket> {
    const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
    await once(socket, "connect");
    return socket;
  }

  it("bring connections with the port that was meant", async () => {
    lent.borrow(9099);
    lent.borrow(443);
    const socket = await connected();
    bring(asked[1] ?? 0, socket);
    expect(came).toEqual([[443, socket]]);
    expect(socket.destroyed).toBe(false);
    socket.destroy();
  });

  it("G-191 end what came with the link, and what comes for it later", async () => {
    lent.borrow(9099);
    const [first, late, next] = [await connected(), await connected(), await connected()];
    bring(asked[0] ?? 0, first);
    lent.end();
    expect(first.destroyed).toBe(true);
    bring(asked[0] ?? 0, late);
    expect(late.destroyed).toBe(true);
    lent.borrow(9099);
    expect(asked[1]).not.toBe(asked[0]);
    bring(asked[1] ?? 0, next);
    expect(came.map(([, socket]) => socket)).toEqual([first, next]);
    next.destroy();
  });

  it("have numbers that a keeper takes, however many links there were", () => {
    for (let link = 0; link < 40_000; link++) lent.end();
    lent.borrow(65_535);
    expect(asked[0]).toBeLessThan(2 ** 31);
  });
});
