import { resolve } from "node:path";
import { expect, it, vi } from "vitest";
import { useScriptedClient } from "../../test/helpers/scripted-client.ts";
import type { StartServiceOptions } from "./options.ts";

// Each starts processes, on a machine that may be busy.
vi.setConfig({ testTimeout: 30_000, hookTimeout: 30_000 });

const scripted = useScriptedClient();

it("every verb sends what was given by position and by name, host paths from the current folder", async () => {
  await scripted.sdk.createWorkspace({
    secrets: [
      { name: "A", value: "some/value" },
      { name: "B", file_path: "some/file" },
    ],
  });
  const secrets = [
    { name: "A", value: "some/value" },
    { name: "B", file_path: resolve("some/file") },
  ];
  expect(scripted.notes().at(-1)).toBe(`create ${JSON.stringify({ secrets })}`);

  const asked = async (call: Promise<unknown>): Promise<unknown> => {
    const { operation } = (await call) as { operation: string };
    const line = scripted.notes().at(-1)!;
    expect(line.startsWith(`${operation} `)).toBe(true);
    return [operation, JSON.parse(line.slice(operation.length + 1))];
  };
  const { sdk } = scripted;
  const signal = new AbortController().signal;
  const ws = { workspace_id: "ws-1" };
  const [shell, service] = [
    { ...ws, shell_id: "sh-1" },
    { ...ws, service_name: "web" },
  ];
  const start: StartServiceOptions = {
    command: ["x"],
    readiness: { type: "tcp", port: 80 },
    published_ports: [{ guest_port: 80, host_port: 0 }],
    secret_env: { A: "B" },
  };
  const calls: [() => Promise<unknown>, string, object][] = [
    [() => sdk.applyWorkspacePatch("ws-1", { patch: "p", signal }), "applyWorkspacePatch", { ...ws, patch: "p" }],
    [() => sdk.pushWorkspaceSync("ws-1", "a"), "pushWorkspaceSync", { ...ws, source_path: resolve("a") }],
    [() => sdk.createSnapshot("ws-1", "s"), "createSnapshot", { ...ws, snapshot_name: "s" }],
    [() => sdk.listSnapshots("ws-1"), "listSnapshots", ws],
    [() => sdk.deleteSnapshot("ws-1", "s"), "deleteSnapshot", { ...ws, snapshot_name: "s" }],
    [() => sdk.resetWorkspace("ws-1", { snapshot: "s" }), "resetWorkspace", { ...ws, snapshot: "s" }],
    [() => sdk.forkWorkspace("ws-1", { name: "n" }), "forkWorkspace", { ...ws, name: "n" }],
    [() => sdk.startService("ws-1", "web", start), "startService", { ...service, ...start }],
    [() => sdk.listServices("ws-1"), "listServices", ws],
    [() => sdk.statusService("ws-1", "web"), "statusService", service],
    [() => sdk.logsService("ws-1", "web", { tail_lines: 3 }), "logsService", { ...service, tail_lines: 3 }],
    [() => sdk.stopService("ws-1", "web"), "stopService", service],
    [() => sdk.openShell("ws-1", { cols: 80 }), "openShell", { ...ws, cols: 80 }],
    [
      () => sdk.readShell("ws-1", "sh-1", { cursor: 4, plain: true }),
      "readShell",
      { ...shell, cursor: 4, plain: true },
    ],
    [() => sdk.writeShell("ws-1", "sh-1", { input: "ls" }), "writeShell", { ...shell, input: "ls" }],
    [() => sdk.signalShell("ws-1", "sh-1", { signal: "INT" }), "signalShell", { ...shell, signal: "INT" }],
    [() => sdk.resizeShell("ws-1", "sh-1", { cols: 9, rows: 8 }), "resizeShell", { ...shell, cols: 9, rows: 8 }],
    [() => sdk.closeShell("ws-1", "sh-1"), "closeShell", shell],
    [() => sdk.summarizeWorkspace("ws-1"), "summarizeWorkspace", ws],
    [() => sdk.stopWorkspace("ws-1"), "stopWorkspace", ws],
    [() => sdk.startWorkspace("ws-1"), "startWorkspace", ws],
    [
      () => sdk.exportWorkspaceDisk("ws-1", { output_path: "d.tar", format: "tar" }),
      "exportWorkspaceDisk",
      { ...ws, output_path: resolve("d.tar"), format: "tar" },
    ],
    [() => sdk.listWorkspaceDisk("ws-1", { recursive: true }), "listWorkspaceDisk", { ...ws, recursive: true }],
    [
      () => sdk.readWorkspaceDisk("ws-1", "a", { max_bytes: 9 }),
      "readWorkspaceDisk",
      { ...ws, path: "a", max_bytes: 9 },
    ],
  ];
  for (const [call, operation, input] of calls) expect(await asked(call())).toEqual([operation, input]);
});
