import { mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { once } from "node:events";
import { afterEach, beforeEach, expect, it } from "vitest";
import { openSocketAddress } from "./unix-path.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "cloche-path-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

it("leaves a path that fits as it is", () => {
  expect(openSocketAddress("/run/x.sock").path).toBe("/run/x.sock");
});

it("listens and connects where the path is too long, and leaves no descriptor open", async () => {
  const deep = join(folder, "d".repeat(120));
  mkdirSync(deep);
  const path = join(deep, "daemon.sock");
  const before = readdirSync("/proc/self/fd").length;
  const listening = openSocketAddress(path);
  const server = createServer((socket) => socket.end("hello"));
  server.listen(listening.path);
  await once(server, "listening");
  expect(readdirSync(deep)).toEqual(["daemon.sock"]);

  const address = openSocketAddress(path);
  const socket = connect(address.path);
  const [said] = (await once(socket, "data")) as [Buffer];
  address.release();
  address.release();
  expect(said.toString()).toBe("hello");

  socket.destroy();
  server.close();
  await once(server, "close");
  listening.release();
  expect(readdirSync(deep)).toEqual([]);
  expect(readdirSync("/proc/self/fd").length).toBe(before);
});

it("throws the system error when the folder is missing", () => {
  const missing = join(folder, "m".repeat(120), "daemon.sock");
  expect(() => openSocketAddress(missing)).toThrow(expect.objectContaining({ code: "ENOENT" }));
});
