import { type Socket, connect, createServer } from "node:net";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Duplex, PassThrough, duplexPair } from "node:stream";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { DoorTarget } from "../model/door.ts";
import { relayConnection } from "./relay-connection.ts";

let folder: string;
let target: DoorTarget & { kind: "unix" };
let server: ReturnType<typeof createServer>;
let arrived: Promise<Socket>;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "cloche-relay-"));
  target = { kind: "unix", path: join(folder, "t.sock") };
  arrived = new Promise((done) => (server = createServer({ allowHalfOpen: true }, done)));
  await new Promise<void>((done) => server.listen(target.path, done));
});

afterEach(() => {
  server.close();
  rmSync(folder, { recursive: true });
});

/** As the keeper does it for a gate. */
const reach = (path: string): Promise<Socket> =>
  new Promise((done, fail) => {
    const socket = connect(path, () => done(socket));
    socket.once("error", fail);
  });

/** All that comes until the end; the other direction stays open. */
const received = (stream: Duplex): Promise<Buffer> =>
  new Promise((done) => {
    const parts: Buffer[] = [];
    stream.on("data", (part: Buffer) => parts.push(part)).once("end", () => done(Buffer.concat(parts)));
  });

it("carries all of both directions, and each side's end to the other", async () => {
  const [guest, inside] = duplexPair();
  const { over } = relayConnection(guest, target, () => reach(target.path));
  const bytes = Buffer.alloc(3_000_000, "x");
  const host = await arrived;
  inside.end(bytes);
  expect((await received(host)).equals(bytes)).toBe(true);
  host.end(bytes);
  expect((await received(inside)).equals(bytes)).toBe(true);
  await over;
});

it("leaves nothing of a connection whose sandbox side breaks after it has ended one way", async () => {
  const [guest, inside] = duplexPair();
  const { over } = relayConnection(guest, target, () => reach(target.path));
  const host = await arrived;
  host.on("error", () => undefined);
  inside.end("all");
  expect((await received(host)).toString()).toBe("all");
  guest.destroy();
  await over;
  const broken = new Promise((done) => host.once("close", done));
  host.write("nobody takes it");
  await broken;
});

it("closes the sandbox's side when the target is not there", async () => {
  const [guest, inside] = duplexPair();
  inside.on("error", () => undefined);
  await relayConnection(guest, target, () => reach(join(folder, "nobody.sock"))).over;
  expect(guest.destroyed).toBe(true);
});

it("does not read on while the target takes nothing", async () => {
  let read = 0;
  const [guest, inside] = duplexPair();
  const relayed = relayConnection(guest, target, () => reach(target.path));
  const host = await arrived;
  host.pause();
  const source = new PassThrough();
  source.on("data", (chunk: Buffer) => (read += chunk.length));
  source.pipe(inside);
  for (let count = 0; count < 200 && source.write(Buffer.alloc(65_536)); count++)
    await new Promise((done) => setImmediate(done));
  expect(read).toBeLessThan(2_000_000);
  relayed.destroy();
  await relayed.over;
});
