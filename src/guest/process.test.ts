import { describe, expect, it } from "vitest";
import { dataPayload, exitPayload, FakeGuest, pack, settle } from "../../test/guest/fake-guest.ts";
import { GUEST, HOST } from "./frame-types.ts";
import { WINDOW_BYTES } from "./output-window.ts";

const SPEC = { argv: ["cat"], env: {}, cwd: "/", user: { uid: 1000, gid: 1000 }, stdin: true };

async function startProcess() {
  const guest = new FakeGuest();
  const client = await guest.connect();
  const process = client.spawn(SPEC);
  const { stream } = await guest.frame(HOST.SPAWN);
  guest.send(GUEST.STARTED, stream, pack(["u32", 1], ["u32", 10]));
  await process.started;
  const sent = (type: number) => guest.frames.filter((frame) => frame.type === type);
  const credit = (bytes: number) => guest.send(GUEST.CREDIT, stream, pack(["u8", 0], ["u32", bytes]));
  return { guest, client, process, stream, sent, credit };
}

describe("GuestProcess output", () => {
  it("comes in order with its offsets and ends after the exit", async () => {
    const { guest, process, stream } = await startProcess();
    guest.send(GUEST.DATA, stream, dataPayload(1, 0, "one"));
    guest.send(GUEST.DATA, stream, dataPayload(2, 0, "two"));
    guest.send(GUEST.DATA, stream, dataPayload(1, 10, "far"));
    guest.send(GUEST.EXIT, stream, exitPayload(4));
    const seen: string[] = [];
    for await (const { channel, offset, data } of process.output())
      seen.push(`${channel} ${offset} ${data.toString()}`);
    expect(seen).toEqual(["stdout 0 one", "stderr 0 two", "stdout 10 far"]);
    expect(await process.exit).toEqual({ kind: "exited", code: 4, timedOut: false, durationUs: 1000, message: "" });
  });

  it("gives credit when half of the window was read, and none before the reader comes back", async () => {
    const { guest, process, stream, sent } = await startProcess();
    for (let at = 0; at < WINDOW_BYTES; at += 65_536) {
      guest.send(GUEST.DATA, stream, dataPayload(1, at, Buffer.alloc(65_536)));
    }
    await settle();
    expect(sent(HOST.CREDIT)).toEqual([]);
    const reader = process.output();
    await reader.next();
    await reader.next();
    await settle();
    expect(sent(HOST.CREDIT)).toEqual([]);
    await reader.next();
    await settle();
    expect(sent(HOST.CREDIT).map(({ payload }) => payload)).toEqual([pack(["u8", 1], ["u32", WINDOW_BYTES / 2])]);
  });

  it("is read and forgotten after the reader left, so that the exit still comes", async () => {
    const { guest, process, stream, sent } = await startProcess();
    guest.send(GUEST.DATA, stream, dataPayload(1, 0, Buffer.alloc(100_000)));
    for await (const { data } of process.output()) {
      expect(data).toHaveLength(100_000);
      break;
    }
    guest.send(GUEST.DATA, stream, dataPayload(1, 100_000, Buffer.alloc(100_000)));
    await guest.frame(HOST.CREDIT);
    guest.send(GUEST.EXIT, stream, exitPayload());
    await process.exit;
    expect(sent(HOST.CREDIT).map(({ payload }) => payload)).toEqual([pack(["u8", 1], ["u32", 200_000])]);
  });

  it("can be read by one reader only", async () => {
    const { process } = await startProcess();
    void process.output().next();
    await expect(process.output().next()).rejects.toThrow("once");
  });

  it("ends after detaching with what has come", async () => {
    const { guest, process, stream } = await startProcess();
    guest.send(GUEST.DATA, stream, dataPayload(1, 0, "x"));
    await settle();
    process.detach();
    const chunks = [];
    for await (const { data } of process.output()) chunks.push(data.toString());
    expect(chunks).toEqual(["x"]);
    expect((await guest.frame(HOST.DETACH)).stream).toBe(stream);
  });
});

describe("GuestProcess input", () => {
  it("waits for credit and sends no more than that", async () => {
    const { process, sent, credit } = await startProcess();
    let done = false;
    const write = process.write(Buffer.from("hello")).then(() => (done = true));
    await settle();
    expect(sent(HOST.DATA)).toEqual([]);
    credit(3);
    await settle();
    expect(sent(HOST.DATA).map(({ payload }) => payload.toString("latin1"))).toEqual(["\0hel"]);
    expect(done).toBe(false);
    credit(100);
    await write;
    await settle();
    expect(sent(HOST.DATA).map(({ payload }) => payload.toString("latin1"))).toEqual(["\0hel", "\0lo"]);
  });

  it("keeps the order of writes that were not waited for, and ends after them", async () => {
    const { guest, process, credit } = await startProcess();
    void process.write(Buffer.from("a"));
    void process.write(Buffer.from("b"));
    process.endInput();
    process.endInput();
    credit(1000);
    await guest.frame(HOST.END);
    await settle();
    expect(guest.frames.slice(2).map(({ type, payload }) => [type, payload.toString("latin1")])).toEqual([
      [HOST.DATA, "\0a"],
      [HOST.DATA, "\0b"],
      [HOST.END, "\0"],
    ]);
  });

  it("splits what is larger than a frame", async () => {
    const { process, sent, credit } = await startProcess();
    credit(1_000_000);
    await process.write(Buffer.alloc(300_000, 1));
    await settle();
    const sizes = sent(HOST.DATA).map(({ payload }) => payload.length - 1);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(300_000);
    expect(Math.max(...sizes)).toBe(131_071);
  });

  it("resolves quietly when the process has ended", async () => {
    const { guest, process, stream } = await startProcess();
    const waiting = process.write(Buffer.from("x"));
    guest.send(GUEST.EXIT, stream, exitPayload());
    await waiting;
    await process.write(Buffer.from("y"));
    process.endInput();
    process.signal(9);
    process.resize(80, 25);
  });

  it("waits for the socket, however much credit a guest gives", async () => {
    const { guest, client, process, credit } = await startProcess();
    guest.own.pause();
    for (let times = 0; times < 10; times++) credit(0xffff_ffff);
    await settle();
    let done = false;
    const write = process.write(Buffer.alloc(64 * 1024 * 1024)).then(
      () => (done = true),
      () => undefined,
    );
    await settle();
    expect(done).toBe(false);
    expect(guest.host.writableLength).toBeLessThan(1024 * 1024);
    client.close();
    await write;
  });
});

describe("GuestProcess start", () => {
  it("rejects when the guest refuses", async () => {
    const guest = new FakeGuest();
    const client = await guest.connect();
    const process = client.attach(7, { stdout: 0, stderr: 0 });
    guest.send(GUEST.ERROR, (await guest.frame(HOST.ATTACH)).stream, pack(["u32", 3], ["str", "no such process"]));
    await expect(process.started).rejects.toMatchObject({ code: "COMMAND_NOT_FOUND", details: { errno: 3 } });
    await expect(process.exit).rejects.toMatchObject({ code: "COMMAND_NOT_FOUND" });
    await expect(process.output().next()).rejects.toMatchObject({ code: "COMMAND_NOT_FOUND" });
  });

  it("attaches from offsets, and takes nothing before them", async () => {
    const guest = new FakeGuest();
    const client = await guest.connect();
    client.attach(7, { stdout: 100, stderr: 5 });
    const { stream, payload } = await guest.frame(HOST.ATTACH);
    expect(payload).toEqual(pack(["u32", 7], ["u64", 100], ["u64", 5], ["u32", WINDOW_BYTES]));
    guest.send(GUEST.STARTED, stream, pack(["u32", 7], ["u32", 1]));
    guest.send(GUEST.DATA, stream, dataPayload(1, 99, "x"));
    expect(await client.closed).toMatchObject({ code: "GUEST_PROTOCOL" });
  });
});
