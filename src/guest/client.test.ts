import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { dataPayload, exitPayload, FakeGuest, helloPayload, pack, settle } from "../../test/guest/fake-guest.ts";
import { GuestClient } from "./client.ts";
import { encodeFrame } from "./codec.ts";
import { GUEST, HOST } from "./frame-types.ts";
import { WINDOW_BYTES } from "./output-window.ts";

const SPEC = { argv: ["true"], env: {}, cwd: "/", user: { uid: 1000, gid: 1000 } };
const started = pack(["u32", 1], ["u32", 10]);
const code = (value: string) => expect.objectContaining({ code: value }) as Error;

let unhandled: unknown[] = [];
const onUnhandled = (reason: unknown) => unhandled.push(reason);
beforeEach(() => {
  unhandled = [];
  process.on("unhandledRejection", onUnhandled);
});
afterEach(async () => {
  await settle();
  process.off("unhandledRejection", onUnhandled);
  expect(unhandled).toEqual([]);
});

describe("GuestClient.connect()", () => {
  it("tells what the guest said of itself", async () => {
    const client = await new FakeGuest().connect();
    expect(client.hello).toEqual({
      version: 1,
      hasLayers: true,
      canChangeUser: true,
      hasNameDoors: false,
      hasConduits: false,
      pid: 1,
      bootId: "07".repeat(16),
    });
  });

  it("rejects a guest of another version as such", async () => {
    const guest = new FakeGuest();
    guest.send(GUEST.HELLO, 0, helloPayload(9));
    await expect(GuestClient.connect(guest.host)).rejects.toEqual(code("GUEST_VERSION"));
    expect(guest.host.destroyed).toBe(true);
  });

  it("rejects a guest that says nothing, after the time-out", async () => {
    const guest = new FakeGuest();
    await expect(GuestClient.connect(guest.host, { timeoutMs: 5 })).rejects.toEqual(code("SANDBOX_LOST"));
    expect(guest.host.destroyed).toBe(true);
  });

  it("stops when the caller does, before and while it waits", async () => {
    const controller = new AbortController();
    const waiting = GuestClient.connect(new FakeGuest().host, { signal: controller.signal });
    controller.abort();
    await expect(waiting).rejects.toEqual(code("CANCELLED"));
    await expect(GuestClient.connect(new FakeGuest().host, { signal: AbortSignal.abort() })).rejects.toEqual(
      code("CANCELLED"),
    );
  });

  it("rejects when the stream ends or fails instead", async () => {
    const ended = new FakeGuest();
    ended.own.end();
    await expect(GuestClient.connect(ended.host)).rejects.toEqual(code("SANDBOX_LOST"));
    const failed = new FakeGuest();
    const waiting = GuestClient.connect(failed.host);
    failed.host.destroy(new Error("gone"));
    await expect(waiting).rejects.toEqual(code("SANDBOX_LOST"));
  });
});

describe("a guest that breaks the protocol", () => {
  const faults: [string, (guest: FakeGuest, stream: number) => void][] = [
    ["sends a frame that is too long", (guest) => guest.sendRaw(Buffer.alloc(4, 0xff))],
    ["sends a frame that is too short", (guest) => guest.sendRaw(Buffer.alloc(4))],
    ["sends an unknown type", (guest, stream) => guest.send(0x99, stream)],
    ["sends a type of the host", (guest, stream) => guest.send(HOST.DATA, stream)],
    ["speaks on a stream that never was", (guest) => guest.send(GUEST.OK, 4711)],
    ["speaks on a stream of its own that never was", (guest) => guest.send(GUEST.OK, 0x8000_0001)],
    ["says HELLO twice", (guest) => guest.send(GUEST.HELLO, 0, helloPayload())],
    ["answers a PING that was not sent", (guest) => guest.send(GUEST.PONG, 0, pack(["u64", 99]))],
    ["starts a process twice", (guest, stream) => guest.send(GUEST.STARTED, stream, started)],
    [
      "sends more than its credit",
      (guest, stream) => {
        for (let at = 0; at <= WINDOW_BYTES; at += 65_536) {
          guest.send(GUEST.DATA, stream, dataPayload(1, at, Buffer.alloc(65_536)));
        }
      },
    ],
    [
      "goes back in its output",
      (guest, stream) => {
        guest.send(GUEST.DATA, stream, dataPayload(1, 5, "abc"));
        guest.send(GUEST.DATA, stream, dataPayload(1, 7, "abc"));
      },
    ],
    [
      "sends output after its end",
      (guest, stream) => {
        guest.send(GUEST.END, stream, pack(["u8", 1], ["u64", 0]));
        guest.send(GUEST.DATA, stream, dataPayload(1, 0, "abc"));
      },
    ],
    [
      "ends before what it sent",
      (guest, stream) => {
        guest.send(GUEST.DATA, stream, dataPayload(2, 0, "abc"));
        guest.send(GUEST.END, stream, pack(["u8", 2], ["u64", 2]));
      },
    ],
    ["lists processes on a process", (guest, stream) => guest.send(GUEST.PROCESS_LIST, stream, pack(["u32", 0]))],
    [
      "opens a connection where no door is",
      (guest, stream) => guest.send(GUEST.INCOMING, stream, pack(["u32", 0x8000_0001])),
    ],
    [
      "exits in an unknown way",
      (guest, stream) =>
        guest.send(GUEST.EXIT, stream, pack(["u8", 3], ["u8", 0], ["i32", 0], ["u64", 0], ["str", ""])),
    ],
  ];

  it.each(faults)("and %s: ends everything that waits with GUEST_PROTOCOL", async (_name, act) => {
    const guest = new FakeGuest();
    const client = await guest.connect();
    const process = client.spawn({ ...SPEC, stdin: true });
    guest.send(GUEST.STARTED, (await guest.frame(HOST.SPAWN)).stream, started);
    await process.started;
    const output = process.output().next();
    const waiting = [
      process.exit,
      process.write(Buffer.from("x")),
      client.forget(1),
      client.connectPort(80),
      client.ping(),
    ];
    act(guest, (await guest.frame(HOST.SPAWN)).stream);
    expect(await client.closed).toEqual(code("GUEST_PROTOCOL"));
    for (const result of waiting) await expect(result).rejects.toEqual(code("GUEST_PROTOCOL"));
    await output.then(
      () => undefined,
      (error: unknown) => expect(error).toEqual(code("GUEST_PROTOCOL")),
    );
    expect(guest.host.destroyed).toBe(true);
    expect(() => client.spawn(SPEC)).toThrow(code("GUEST_PROTOCOL"));
    await expect(client.ping()).rejects.toEqual(code("GUEST_PROTOCOL"));
  });

  it("harms no other connection", async () => {
    const [bad, good] = [new FakeGuest(), new FakeGuest()];
    const [badClient, goodClient] = [await bad.connect(), await good.connect()];
    bad.sendRaw(Buffer.alloc(4, 0xff));
    await badClient.closed;
    const pong = goodClient.ping();
    good.send(GUEST.PONG, 0, (await good.frame(HOST.PING)).payload);
    await pong;
  });
});

describe("GuestClient", () => {
  it("ignores frames for a stream that has ended here", async () => {
    const guest = new FakeGuest();
    const client = await guest.connect();
    const process = client.spawn(SPEC);
    const { stream } = await guest.frame(HOST.SPAWN);
    process.detach();
    guest.send(GUEST.STARTED, stream, started);
    guest.send(GUEST.DATA, stream, dataPayload(1, 0, "late"));
    guest.send(GUEST.EXIT, stream, exitPayload());
    const pong = client.ping();
    guest.send(GUEST.PONG, 0, (await guest.frame(HOST.PING)).payload);
    await pong;
    await expect(process.exit).rejects.toEqual(code("CANCELLED"));
  });

  it("tells a lost sandbox to everything that waits", async () => {
    const guest = new FakeGuest();
    const client = await guest.connect();
    const process = client.spawn(SPEC);
    const ping = client.ping();
    guest.own.end();
    expect(await client.closed).toEqual(code("SANDBOX_LOST"));
    await expect(process.started).rejects.toEqual(code("SANDBOX_LOST"));
    await expect(process.exit).rejects.toEqual(code("SANDBOX_LOST"));
    await expect(ping).rejects.toEqual(code("SANDBOX_LOST"));
  });

  it("ends what waits with CANCELLED when it is closed, after what was sent has left", async () => {
    const guest = new FakeGuest();
    const client = await guest.connect();
    const process = client.spawn(SPEC);
    process.signal(15);
    client.close();
    client.close();
    expect(await client.closed).toBeUndefined();
    await expect(process.exit).rejects.toEqual(code("CANCELLED"));
    expect((await guest.frame(HOST.SIGNAL)).payload).toEqual(Buffer.of(15, 0));
  });

  it("resolves shutdown when the guest is gone, and does not call that a loss", async () => {
    const guest = new FakeGuest();
    const client = await guest.connect();
    const down = client.shutdown();
    await guest.frame(HOST.SHUTDOWN);
    guest.own.end();
    await down;
    expect(await client.closed).toBeUndefined();
  });

  const item = (process: number) =>
    pack(["u32", process], ["u32", 1], ["raw", Buffer.alloc(3)], ["i32", 0], ["raw", Buffer.alloc(32)], ["str", "t"]);

  it.each([
    ["in one frame", false],
    ["in several frames", true],
  ])("lists processes %s, ended by OK", async (_name, several) => {
    const guest = new FakeGuest();
    const client = await guest.connect();
    const list = client.processes();
    const { stream } = await guest.frame(HOST.PROCESSES);
    guest.send(GUEST.PROCESS_LIST, stream, Buffer.concat([pack(["u32", 1]), item(1)]));
    if (several) guest.send(GUEST.PROCESS_LIST, stream, Buffer.concat([pack(["u32", 1]), item(2)]));
    guest.send(GUEST.OK, stream);
    expect((await list).map(({ process }) => process)).toEqual(several ? [1, 2] : [1]);
  });

  it("refuses what cannot be sent, and goes on", async () => {
    const guest = new FakeGuest();
    const client = await guest.connect();
    const bad = [
      { argv: [] },
      { argv: ["a\0b"] },
      { env: { "A=B": "" } },
      { env: { A: "\0" } },
      { timeoutMs: -1 },
      { argv: ["x".repeat(4 * 1024 * 1024)] },
      { user: { uid: 1.5, gid: 0 } },
    ];
    for (const fields of bad) expect(() => client.spawn({ ...SPEC, ...fields })).toThrow(code("INVALID_ARGUMENT"));
    const process = client.spawn(SPEC);
    guest.send(GUEST.STARTED, (await guest.frame(HOST.SPAWN)).stream, started);
    expect(await process.started).toEqual({ process: 1, pid: 10 });
  });

  it("sends what is sent together in one write", async () => {
    const guest = new FakeGuest();
    const client = await guest.connect();
    let chunks = 0;
    guest.host._writev = (items: { chunk: Buffer }[], done) => {
      chunks++;
      guest.host.push("");
      for (const { chunk } of items) guest.frames.push({ type: chunk[4] ?? 0, stream: 0, payload: chunk });
      done();
    };
    const process = client.spawn({ ...SPEC, stdin: true });
    process.endInput();
    process.signal(1);
    await settle();
    expect(chunks).toBe(1);
    expect(guest.frames.slice(1).map(({ type }) => type)).toEqual([HOST.SPAWN, HOST.END, HOST.SIGNAL]);
  });

  it("stops reading the socket when too much is unread, and goes on when it is read", async () => {
    const guest = new FakeGuest();
    const client = await guest.connect();
    const count = 200;
    const processes = Array.from({ length: count }, () => client.spawn(SPEC));
    await guest.frame(HOST.SPAWN, count - 1);
    const full = Buffer.alloc(65_536);
    const streams = guest.frames.filter(({ type }) => type === HOST.SPAWN).map(({ stream }) => stream);
    for (const stream of streams) {
      guest.send(GUEST.STARTED, stream, started);
      for (const channel of [1, 2]) {
        for (let at = 0; at < WINDOW_BYTES; at += full.length) {
          guest.sendRaw(encodeFrame(GUEST.DATA, stream, dataPayload(channel, at, full)));
        }
      }
    }
    while (!guest.host.isPaused()) await settle();
    for (const process of processes) process.discardOutput();
    await settle();
    expect(guest.host.isPaused()).toBe(false);
    await Promise.all(processes.map(({ started: promise }) => promise));
  });
});
