import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ToolName } from "../../src/mcp/profiles.ts";

/** A project for `everyToolCall`. */
export function makeProjectToPush(folder: string): void {
  mkdirSync(join(folder, "pushed"), { recursive: true });
  writeFileSync(join(folder, "pushed/file"), "pushed\n");
}

/** Arguments for one honest call of every tool but the one that made the workspace, in an order in which each can succeed, on a server of that project. */
export function everyToolCall(id: string): [ToolName, object][] {
  const shell = { workspace_id: id, shell_id: "" };
  return [
    ["vm_run", { command: "echo hi" }],
    ["workspace_list", {}],
    ["workspace_status", { workspace_id: id }],
    ["workspace_update", { workspace_id: id, name: "every", labels: { a: "b" } }],
    ["workspace_exec", { workspace_id: id, command: ["sh", "-c", "echo out; echo err >&2; exit 3"] }],
    ["workspace_logs", { workspace_id: id }],
    ["workspace_file_write", { workspace_id: id, path: "a/b.txt", text: "one\n" }],
    ["workspace_file_list", { workspace_id: id, recursive: true }],
    ["workspace_file_read", { workspace_id: id, path: "a/b.txt" }],
    ["workspace_patch_apply", { workspace_id: id, patch: "--- a/a/b.txt\n+++ b/a/b.txt\n@@ -1 +1 @@\n-one\n+two\n" }],
    ["workspace_sync_push", { workspace_id: id, source_path: "pushed", dest: "pushed" }],
    ["workspace_diff", { workspace_id: id }],
    ["workspace_export", { workspace_id: id, path: "a/b.txt", output_path: `out-${id}` }],
    ["workspace_summary", { workspace_id: id }],
    ["snapshot_create", { workspace_id: id, snapshot_name: "s" }],
    ["snapshot_list", { workspace_id: id }],
    [
      "service_start",
      {
        workspace_id: id,
        service_name: "web",
        command: "touch up; exec sleep 60",
        readiness: { type: "file", path: "up" },
      },
    ],
    ["service_list", { workspace_id: id }],
    ["service_status", { workspace_id: id, service_name: "web" }],
    ["service_logs", { workspace_id: id, service_name: "web" }],
    ["service_stop", { workspace_id: id, service_name: "web" }],
    ["shell_open", { workspace_id: id }],
    ["shell_list", { workspace_id: id }],
    ["shell_write", { ...shell, input: "echo $((20+1))" }],
    ["shell_read", { ...shell, plain: true, wait_for_idle_ms: 300 }],
    ["shell_resize", { ...shell, cols: 90, rows: 20 }],
    ["shell_signal", { ...shell, signal: "INT" }],
    ["shell_close", shell],
    ["workspace_fork", { workspace_id: id }],
    ["workspace_reset", { workspace_id: id, snapshot: "s" }],
    ["snapshot_delete", { workspace_id: id, snapshot_name: "s" }],
    ["workspace_stop", { workspace_id: id }],
    ["workspace_disk_list", { workspace_id: id, recursive: true }],
    ["workspace_disk_read", { workspace_id: id, path: "a/b.txt" }],
    ["workspace_disk_export", { workspace_id: id, output_path: `disk-${id}.tar` }],
    ["workspace_start", { workspace_id: id }],
    ["workspace_delete", { workspace_id: id }],
  ];
}
