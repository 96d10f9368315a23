import { randomBytes } from "node:crypto";
import { renameSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { eventually, withInstallation } from "../helpers/installation.ts";
import { guestPids, sandboxFolder } from "../helpers/running-daemon.ts";

/** Takes the place of a guest's socket: what a guest program would do that was taken over. */
async function impersonate(socketPath: string, talk: (send: (bytes: Buffer) => void) => void): Promise<Server> {
  renameSync(socketPath, `${socketPath}.real`);
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    talk((bytes) => {
      if (socket.writable) socket.write(bytes);
    });
  });
  await new Promise<void>((done) => server.listen(socketPath, done));
  return server;
}

const HELLO = Buffer.concat([
  Buffer.from([0x21, 0, 0, 0, 0x81, 0, 0, 0, 0]),
  Buffer.from([0x43, 0x4c, 0x43, 0x48, 1, 0, 0, 0]),
  Buffer.alloc(20, 1),
]);

describe("G-10 a hostile guest", () => {
  it.each<[string, (send: (bytes: Buffer) => void) => void]>([
    ["garbage", (send) => send(randomBytes(4096))],
    ["a frame without end", (send) => send(Buffer.from([0xff, 0xff, 0xff, 0x7f, 0x81]))],
    ["an endless stream of hellos", (send) => Array.from({ length: 200 }, () => send(HELLO))],
    [
      "data for streams that never were",
      (send) => send(Buffer.concat([HELLO, Buffer.from([14, 0, 0, 0, 0x83, 9, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0])])),
    ],
  ])("G-10 %s ends its own channel: the other workspace and the daemon go on", async (_what, talk) => {
    await withInstallation(async (at) => {
      const bad = await at.sdk.createWorkspace({ environment: "host" });
      const good = await at.sdk.createWorkspace({ environment: "host" });
      const before = await at.sdk.daemonStatus();
      process.kill(before.pid ?? 0, "SIGKILL"); // the next daemon connects anew
      const socketPath = join(sandboxFolder(at.home, bad.workspace_id), "guest.sock");
      const server = await impersonate(socketPath, talk);
      try {
        await expect(
          at.sdk.execWorkspace(bad.workspace_id, { command: "true", signal: AbortSignal.timeout(20_000) }),
        ).rejects.toThrow(
          expect.objectContaining({
            code: expect.stringMatching(/GUEST_PROTOCOL|GUEST_VERSION|SANDBOX_LOST/) as string,
          }) as Error,
        );
        expect((await at.sdk.execWorkspace(good.workspace_id, { command: "echo fine" })).stdout).toBe("fine\n");
        const after = await at.sdk.daemonStatus();
        expect((await at.sdk.listWorkspaces()).count).toBe(2);
        expect(after.running).toBe(true);
      } finally {
        server.close();
        rmSync(socketPath, { force: true });
        renameSync(`${socketPath}.real`, socketPath);
      }
      await at.sdk.deleteWorkspace(bad.workspace_id);
    });
  });

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
