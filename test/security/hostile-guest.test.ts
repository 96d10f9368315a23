import { randomBytes } from "node:crypto";
import { renameSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { GUEST_PORTS, guestSocket } from "../../src/backends/vm/qemu-arguments.ts";
import { eventually, withInstallation } from "../helpers/installation.ts";
import { guestPids, killDaemon, sandboxFolder } from "../helpers/running-daemon.ts";
import { describeWalls } from "../helpers/sandbox.ts";

/** Takes the place of a guest's socket: what a guest program would do that was taken over. What it gives ends it. */
async function impersonate(socketPath: string, talk: (send: (bytes: Buffer) => void) => void): Promise<() => void> {
  renameSync(socketPath, `${socketPath}.real`);
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    talk((bytes) => {
      if (socket.writable) socket.write(bytes);
    });
  });
  await new Promise<void>((done) => server.listen(socketPath, done));
  return () => {
    server.close();
    rmSync(socketPath, { force: true });
    renameSync(`${socketPath}.real`, socketPath);
  };
}

const HELLO = Buffer.concat([
  Buffer.from([0x21, 0, 0, 0, 0x81, 0, 0, 0, 0]),
  Buffer.from([0x43, 0x4c, 0x43, 0x48, 1, 0, 0, 0]),
  Buffer.alloc(20, 1),
]);

/** Where the daemon looks for the guest program of a sandbox. */
const SOCKETS = {
  container: ["guest.sock"],
  docker: ["socket/guest.sock"],
  vm: Array.from({ length: GUEST_PORTS }, (_, port) => `machine/${guestSocket(port)}`),
};

describeWalls("G-10 a hostile guest", "g10", (box) => {
  it.each<[string, (send: (bytes: Buffer) => void) => void]>([
    ["silence", () => undefined],
    ["garbage", (send) => send(randomBytes(4096))],
    ["a frame without end", (send) => send(Buffer.from([0xff, 0xff, 0xff, 0x7f, 0x81]))],
    ["an endless stream of hellos", (send) => Array.from({ length: 200 }, () => send(HELLO))],
    [
      "data for streams that never were",
      (send) => send(Buffer.concat([HELLO, Buffer.from([14, 0, 0, 0, 0x83, 9, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0])])),
    ],
  ])("G-10 %s ends its own channel: the other workspace and the daemon go on", async (_what, talk) => {
    const { at } = box;
    const bad = await box.create();
    await killDaemon(at); // the next one connects anew
    const sockets = SOCKETS[box.wall.backend].map((name) => join(sandboxFolder(at.home, bad), name));
    const restore = await Promise.all(sockets.map((path) => impersonate(path, talk)));
    try {
      await expect(at.sdk.execWorkspace(bad, { command: "true", signal: AbortSignal.timeout(50_000) })).rejects.toThrow(
        expect.objectContaining({
          code: expect.stringMatching(/GUEST_PROTOCOL|GUEST_VERSION|SANDBOX_LOST|WORKSPACE_NOT_RUNNING/) as string,
        }) as Error,
      );
      expect((await box.sh("echo fine")).stdout).toBe("fine\n");
      expect((await at.sdk.listWorkspaces()).count).toBe(2);
      expect((await at.sdk.daemonStatus()).running).toBe(true);
    } finally {
      for (const one of restore) one();
    }
    await at.sdk.deleteWorkspace(bad);
  });
});

describe("G-10 a guest program that is gone", () => {
  it("G-10 a guest that dies shows as a failed workspace, and only that one", async () => {
    await withInstallation(async (at) => {
      const bad = await at.sdk.createWorkspace({ environment: "host" });
      const good = await at.sdk.createWorkspace({ environment: "host" });
      const running = at.sdk.execWorkspace(bad.workspace_id, { command: "sleep 60", timeout_seconds: 60 });
      running.catch(() => undefined);
      const { stdout } = await at.sdk.execWorkspace(bad.workspace_id, { command: "hostname" });
      expect(stdout.trim()).toBe(bad.workspace_id);
      for (const pid of guestPids(at.home, bad.workspace_id)) process.kill(pid, "SIGKILL");
      await expect(running).rejects.toThrow(expect.objectContaining({ code: "SANDBOX_LOST" }) as Error);
      await eventually(async () => expect((await at.sdk.statusWorkspace(bad.workspace_id)).state).toBe("failed"));
      await expect(at.sdk.execWorkspace(bad.workspace_id, { command: "true" })).rejects.toThrow(
        expect.objectContaining({ code: "WORKSPACE_NOT_RUNNING" }) as Error,
      );
      const [entry] = (await at.sdk.logsWorkspace(bad.workspace_id)).entries;
      expect(entry).toMatchObject({ state: "lost", exit_code: 125 });
      expect((await at.sdk.execWorkspace(good.workspace_id, { command: "echo fine" })).stdout).toBe("fine\n");
    });
  });
});
