import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Database from "libsql";
import { describe, expect, it } from "vitest";
import type { ClocheEvent } from "../../src/model/event.ts";
import { type Installation, withInstallation } from "../helpers/installation.ts";
import { killDaemon } from "../helpers/running-daemon.ts";

const SECRET = "tok-5f0c1e9b7a-never";
/** A name of a file is chosen in a sandbox, and may be any part of a secret that is not all of it. */
const PART = SECRET.slice(0, 12);

async function read(at: Installation): Promise<ClocheEvent[]> {
  const events: ClocheEvent[] = [];
  for await (const event of at.sdk.watch({ follow: false })) events.push(event);
  return events;
}

/** All that is said about a workspace with a secret, said with the secret in it. */
async function sayEverywhere(at: Installation, id: string): Promise<void> {
  const { sdk } = at;
  await sdk.execWorkspace(id, { command: ["echo", SECRET, `--token=${SECRET}`] });
  await sdk.execWorkspace(id, { command: `rm -rf ${SECRET}; mkdir ${SECRET}; : ${"x".repeat(1985)}${SECRET}` });
  await sdk.execWorkspace(id, { command: "true", cwd: SECRET });
  await sdk.writeWorkspaceFile(id, `${SECRET}/a`, { text: "a\n" });
  // The cut of a long text goes through it.
  for (let before = 1960; before < 2000; before += 4) {
    const folders = "deeper/".repeat(Math.ceil(before / 7)).slice(0, before);
    await sdk.writeWorkspaceFile(id, `${folders}${SECRET}`, { text: "a\n" });
  }
  await sdk.applyWorkspacePatch(id, { patch: `--- /dev/null\n+++ b/${SECRET}/b\n@@ -0,0 +1 @@\n+x\n` });
  const source = at.path(SECRET);
  mkdirSync(source, { recursive: true });
  writeFileSync(join(source, "file"), "x");
  await sdk.pushWorkspaceSync(id, source, { dest: SECRET });
  await sdk.exportWorkspace(id, `${SECRET}/a`, { output_path: at.path(`${SECRET}.${Date.now()}`) });
  await sdk.createSnapshot(id, SECRET);
  await sdk.deleteSnapshot(id, SECRET);
  await sdk.startService(id, "web", { command: ["sleep", "600", SECRET], cwd: SECRET });
  await sdk.stopService(id, "web");
  const { shell_id } = await sdk.openShell(id, { cwd: SECRET });
  await sdk.closeShell(id, shell_id);
  await sdk.updateWorkspace(id, { name: SECRET, labels: { [SECRET]: SECRET } });
  await sdk.updateWorkspace(id, { name: "plain", clear_labels: [SECRET] });
}

function expectNoSecret(text: string): void {
  expect(text).not.toContain(PART);
  expect(text).not.toContain(Buffer.from(SECRET).toString("base64").slice(0, 16));
}

describe("events", () => {
  it("G-29 hold no secret, whatever it is a part of, also when another daemon has taken the sandbox up", async () => {
    await withInstallation(async (at) => {
      const { workspace_id: id } = await at.sdk.createWorkspace({
        environment: "host",
        name: SECRET,
        secrets: [{ name: "TOKEN", value: SECRET }],
      });
      await sayEverywhere(at, id);
      await killDaemon(at);
      await sayEverywhere(at, id);
      const told = await read(at);
      const kinds = new Set(told.map(({ kind }) => kind));
      for (const kind of ["file.written", "patch.applied", "sync.pushed", "export.made", "workspace.updated"] as const)
        expect(kinds).toContain(kind);
      const text = JSON.stringify(told);
      expect(text).toContain("[REDACTED]");
      expectNoSecret(text);
      expectNoSecret((await at.cli(["events"])).stdout);
      expectNoSecret(JSON.stringify(await at.sdk.summarizeWorkspace(id)));
      await at.sdk.deleteWorkspace(id);
      await at.sdk.stopDaemon();
      // Nor does the file that keeps them.
      const database = new Database(join(at.home, "store.sqlite"), { readonly: true });
      const rows = database.prepare("SELECT * FROM events").all([]);
      database.close();
      expect(rows.length).toBeGreaterThan(50);
      expectNoSecret(JSON.stringify(rows));
    });
  });

  it("G-29 are bounded in size, whatever a sandbox or a caller names", async () => {
    await withInstallation(async (at) => {
      const { workspace_id: id } = await at.sdk.createWorkspace({ environment: "host" });
      await at.sdk.execWorkspace(id, { command: `: ${"\u0001".repeat(100_000)}` });
      await at.sdk.execWorkspace(id, { command: Array.from({ length: 2000 }, () => "\u0001".repeat(50)) });
      for (const event of await read(at)) expect(JSON.stringify(event).length).toBeLessThan(17 * 1024);
    });
  });
});
