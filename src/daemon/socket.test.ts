import { once } from "node:events";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { listenPrivately } from "./socket.ts";

it("G-14 makes a socket that was never open to others, and leaves the mask for other files alone", async () => {
  const folder = mkdtempSync(join(tmpdir(), "cloche-socket-"));
  const path = join(folder, "daemon.sock");
  const server = createServer();
  const mask = process.umask(0o022);
  try {
    const listening = listenPrivately(server, path);
    // It is bound when the call comes back, and nothing else has run since.
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(process.umask(0o022)).toBe(0o022);
    await listening;
    expect(statSync(path).mode & 0o777).toBe(0o600);
  } finally {
    process.umask(mask);
    const closed = once(server, "close");
    server.close();
    await closed;
    rmSync(folder, { recursive: true });
  }
});
