import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Cloche } from "../../src/sdk/cloche.ts";
import { Installation } from "../helpers/installation.ts";

/**
 * The calls that a client of workspaces makes, in the order it makes them, with the fields it reads from each answer. The names of the
 * fields are a promise: programs are written against them. A workspace is made by the client itself here; none is made by a tool of an
 * MCP server (`create_server`), which is another surface.
 */
let at: Installation;
let sdk: Cloche;
beforeAll(() => {
  at = new Installation("calls");
  ({ sdk } = at);
});
afterAll(() => at[Symbol.asyncDispose]());

const EXEC = "workspace_id exit_code stdout stderr execution_mode";
const STATUS = "workspace_id network_policy name labels last_activity_at";
const READ = "workspace_id path content";
const EXPORT = "workspace_id workspace_path output_path artifact_type";
const ENTRY = "path artifact_type size_bytes link_target";

/** The answer, after a look at its fields: it has all of these, and may have more. */
function having<T extends object>(answer: T, fields: string): T {
  expect(Object.keys(answer)).toEqual(expect.arrayContaining(fields.split(" ")));
  return answer;
}

function project(name: string, files: Readonly<Record<string, string>>): string {
  mkdirSync(at.path(name));
  for (const [file, text] of Object.entries(files)) writeFileSync(at.path(name, file), text);
  return at.path(name);
}

async function create(
  seed_path: string,
  more: { name?: string; labels?: Record<string, string> } = {},
): Promise<string> {
  const created = await sdk.createWorkspace({ environment: "host", seed_path, network_policy: "off", ...more });
  return having(created, "workspace_id").workspace_id;
}

async function exec(id: string, command: string) {
  const result = having(await sdk.execWorkspace(id, { command }), EXEC);
  expect(result.workspace_id).toBe(id);
  expect(result.execution_mode).toMatch(/^guest_/);
  return result;
}

async function listed(id: string, path: string) {
  const answer = having(await sdk.listWorkspaceFiles(id, { path, recursive: true }), "workspace_id entries");
  for (const entry of answer.entries) having(entry, ENTRY);
  return answer.entries;
}

async function read(id: string, path: string): Promise<string> {
  return having(await sdk.readWorkspaceFile(id, path), READ).content;
}

/** Takes a file out to a path whose folder is there, and gives its text. */
async function exported(id: string, path: string, output_path: string): Promise<string> {
  const answer = having(await sdk.exportWorkspace(id, path, { output_path }), EXPORT);
  expect(answer).toMatchObject({ workspace_id: id, output_path, artifact_type: "file" });
  expect(answer.workspace_path.endsWith(path)).toBe(true);
  return readFileSync(output_path, "utf8");
}

async function remove(id: string): Promise<void> {
  expect(await sdk.deleteWorkspace(id)).toEqual({ workspace_id: id, deleted: true });
  expect((await sdk.listWorkspaces()).workspaces.map((one) => one.workspace_id)).not.toContain(id);
}

describe("the calls of the workspace client, in their order", () => {
  it("cold start: create, exec, start_service, exec, logs_service, list, export, stop_service, delete", async () => {
    const id = await create(
      project("cold", {
        "validate.sh": "printf 'validation=pass\\n' > validation-report.txt\nprintf 'validated\\n'\n",
        "serve.sh":
          "printf 'service started\\n'\nprintf 'service=ready\\n' > service-state.txt\ntouch .app-ready\nwhile true; do sleep 60; done\n",
      }),
    );
    expect(await exec(id, "sh validate.sh")).toMatchObject({ exit_code: 0, stdout: "validated\n", stderr: "" });
    const readiness = { type: "file", path: ".app-ready" } as const;
    const service = await sdk.startService(id, "app", { command: "sh serve.sh", readiness });
    having(service, "workspace_id service_name state command cwd execution_mode readiness");
    expect(service).toMatchObject({ workspace_id: id, service_name: "app", state: "running", readiness });
    expect(service).toMatchObject({ command: "sh serve.sh", cwd: "/workspace" });
    const probe = await exec(id, "sh -lc 'test -f .app-ready && cat service-state.txt'");
    expect(probe).toMatchObject({ exit_code: 0, stdout: "service=ready\n" });
    const logs = await sdk.logsService(id, "app");
    expect(having(logs, "workspace_id service_name state stdout stderr tail_lines truncated")).toEqual({
      workspace_id: id,
      service_name: "app",
      state: "running",
      stdout: "service started\n",
      stderr: "",
      tail_lines: 200,
      truncated: false,
    });
    expect(await listed(id, "/workspace")).toContainEqual({
      path: "/workspace/validation-report.txt",
      artifact_type: "file",
      size_bytes: 16,
      link_target: null,
    });
    expect(await exported(id, "validation-report.txt", at.path("report.txt"))).toBe("validation=pass\n");
    const stopped = having(await sdk.stopService(id, "app"), "workspace_id service_name state");
    expect(stopped).toMatchObject({ workspace_id: id, service_name: "app", state: "stopped" });
    await remove(id);
  });

  it("repair: create, status, exec, read, patch, exec, diff, export, reset, diff, delete; one patch is enough", async () => {
    const seed = project("repair", {
      "message.txt": "broken\n",
      "check.sh":
        'value=$(cat message.txt)\n[ "$value" = fixed ] || { echo "expected fixed got $value" >&2; exit 1; }\necho "$value"\n',
    });
    const id = await create(seed, { name: "repro-fix", labels: { issue: "fix-123" } });
    const status = having(await sdk.statusWorkspace(id), `${STATUS} workspace_seed`);
    expect(status).toMatchObject({ workspace_id: id, name: "repro-fix", labels: { issue: "fix-123" } });
    expect(status.network_policy).toBe("off");
    having(status.workspace_seed, "mode seed_path origin_kind origin_ref");
    expect(status.workspace_seed).toMatchObject({ mode: "directory", seed_path: seed });
    expect(await exec(id, "sh check.sh")).toMatchObject({ exit_code: 1, stderr: "expected fixed got broken\n" });
    expect(await read(id, "message.txt")).toBe("broken\n");
    const patch = "--- a/message.txt\n+++ b/message.txt\n@@ -1 +1 @@\n-broken\n+fixed\n";
    const applied = having(await sdk.applyWorkspacePatch(id, { patch }), "workspace_id changed");
    expect(applied).toMatchObject({ workspace_id: id, changed: true });
    expect(await exec(id, "sh check.sh")).toMatchObject({ exit_code: 0, stdout: "fixed\n" });
    expect(having(await sdk.diffWorkspace(id), "workspace_id changed").changed).toBe(true);
    expect(await exported(id, "message.txt", at.path("message.txt"))).toBe("fixed\n");
    const reset = having(await sdk.resetWorkspace(id), "workspace_id reset_count workspace_reset");
    expect(reset).toMatchObject({ workspace_id: id, reset_count: 1, workspace_reset: { snapshot_name: "baseline" } });
    expect((await sdk.diffWorkspace(id)).changed).toBe(false);
    await remove(id);
  });

  it("in parallel: create, write, list, update, status, read, delete", async () => {
    const seed = project("parallel", { "note.txt": "base\n" });
    const alpha = await create(seed, { name: "alpha", labels: { branch: "a" } });
    const beta = await create(seed, { name: "beta", labels: { branch: "b" } });
    const text = "alpha\n";
    const written = having(
      await sdk.writeWorkspaceFile(alpha, "note.txt", { text }),
      "workspace_id path bytes_written",
    );
    expect(written).toMatchObject({ workspace_id: alpha, bytes_written: 6 });
    await sdk.writeWorkspaceFile(beta, "note.txt", { text: "beta\n" });
    const updated = await sdk.updateWorkspace(alpha, { labels: { owner: "alice" } });
    expect(having(updated, "workspace_id labels").labels).toEqual({ branch: "a", owner: "alice" });
    const list = having(await sdk.listWorkspaces(), "count workspaces");
    expect(list.count).toBe(2);
    for (const workspace of list.workspaces) {
      having(workspace, "workspace_id name labels environment state created_at last_activity_at expires_at");
      having(workspace, "command_count service_count running_service_count");
      expect(workspace).toMatchObject({ environment: "host", state: "started", command_count: 0, service_count: 0 });
      expect(workspace.last_activity_at).toBeGreaterThan(workspace.created_at);
      expect(workspace.expires_at).toBeGreaterThan(workspace.last_activity_at);
    }
    expect(having(await sdk.statusWorkspace(beta), STATUS)).toMatchObject({ name: "beta", labels: { branch: "b" } });
    expect([await read(alpha, "/workspace/note.txt"), await read(beta, "note.txt")]).toEqual(["alpha\n", "beta\n"]);
    await remove(alpha);
    expect((await sdk.listWorkspaces()).workspaces.map(({ name }) => name)).toEqual(["beta"]);
    await remove(beta);
  });

  it("untrusted: create, status, list, read, exec, export, delete", async () => {
    const id = await create(project("untrusted", { "suspicious.sh": "#!/bin/sh\ncurl x | sh\nls\ncurl y\n" }));
    expect((await sdk.statusWorkspace(id)).network_policy).toBe("off");
    expect((await listed(id, "/workspace")).map(({ path }) => path)).toEqual(["/workspace/suspicious.sh"]);
    expect(await read(id, "suspicious.sh")).toContain("curl");
    const inspect =
      "grep -no curl suspicious.sh > inspection-report.txt; echo network_policy=off >> inspection-report.txt";
    expect((await exec(id, inspect)).exit_code).toBe(0);
    const report = await exported(id, "inspection-report.txt", at.path("inspection.txt"));
    expect(report).toBe("2:curl\n4:curl\nnetwork_policy=off\n");
    await remove(id);
  });

  it("review: create, snapshot, open, write, read and close a shell, exec, export, write, exec, summary, reset, delete", async () => {
    const seed = project("review", {
      "CHECKLIST.md": "# Checklist\n- the artifact says PASS\n",
      "artifact.txt": "PASS\n",
      "review.sh":
        "if grep -qx PASS artifact.txt; then echo review=pass > review-report.txt; echo review passed\nelse echo review=fail > review-report.txt; echo review failed >&2; exit 1; fi\n",
    });
    const id = await create(seed, { name: "review", labels: { suite: "smoke" } });
    const { snapshot } = having(await sdk.createSnapshot(id, "pre-review"), "workspace_id snapshot");
    expect(having(snapshot, "snapshot_name kind")).toMatchObject({ snapshot_name: "pre-review", kind: "named" });
    const shell = having(await sdk.openShell(id), "workspace_id shell_id state");
    expect(shell.state).toBe("running");
    const sent = await sdk.writeShell(id, shell.shell_id, { input: "cat CHECKLIST.md" });
    expect(having(sent, "workspace_id shell_id").shell_id).toBe(shell.shell_id);
    await shellShows(id, shell.shell_id, "- the artifact says PASS");
    const closed = await sdk.closeShell(id, shell.shell_id);
    expect(closed).toEqual({ workspace_id: id, shell_id: shell.shell_id, closed: true });
    expect(await exec(id, "sh review.sh")).toMatchObject({ exit_code: 0, stdout: "review passed\n" });
    const output = at.path("review.txt");
    expect(await exported(id, "review-report.txt", output)).toBe("review=pass\n");
    await sdk.writeWorkspaceFile(id, "artifact.txt", { text: "FAIL\n" });
    expect(await exec(id, "sh review.sh")).toMatchObject({ exit_code: 1, stderr: "review failed\n" });
    await expectSummary(id, output);
    const reset = await sdk.resetWorkspace(id, { snapshot: "pre-review" });
    expect(reset).toMatchObject({ reset_count: 1, workspace_reset: { snapshot_name: "pre-review" } });
    expect(await read(id, join("/workspace", "artifact.txt"))).toBe("PASS\n");
    await remove(id);
    expect((await sdk.listWorkspaces()).count).toBe(0);
  });
});

/** Quiet may come before the shell has got to it, on a machine that is busy: then it is read again. */
async function shellShows(id: string, shell: string, text: string): Promise<void> {
  for (let reads = 0; reads < 60; reads += 1) {
    const answer = await sdk.readShell(id, shell, { cursor: 0, plain: true, wait_for_idle_ms: 300 });
    having(answer, "workspace_id shell_id state cursor next_cursor output plain wait_for_idle_ms truncated");
    expect(answer).toMatchObject({ state: "running", cursor: 0, plain: true, wait_for_idle_ms: 300, truncated: false });
    expect(answer.next_cursor).toBeGreaterThanOrEqual(answer.output === "" ? 0 : 1);
    if (answer.output.includes(text)) return;
  }
  expect.fail(`the shell never showed ${text}`);
}

async function expectSummary(id: string, output_path: string): Promise<void> {
  const summary = await sdk.summarizeWorkspace(id);
  having(summary, "workspace_id name labels environment state last_activity_at session_started_at");
  having(summary, "outcome commands edits changes services artifacts snapshots");
  expect(summary).toMatchObject({ workspace_id: id, name: "review", labels: { suite: "smoke" }, state: "started" });
  having(summary.outcome, "last_command service_count running_service_count");
  expect(summary.outcome).toMatchObject({ command_count: 2, export_count: 1, snapshot_count: 1, reset_count: 0 });
  expect(having(summary.commands, "total recent").total).toBe(2);
  having(summary.edits, "recent");
  having(summary.changes, "available reason changed summary entries");
  expect(summary.changes).toMatchObject({ available: true, reason: null, changed: true, summary: { total: 2 } });
  const artifact = { path: "/workspace/artifact.txt", status: "modified", artifact_type: "file" };
  expect(summary.changes.entries).toContainEqual(expect.objectContaining(artifact));
  expect(having(summary.services, "current recent").current).toEqual([]);
  expect(summary.artifacts.exports).toEqual([expect.objectContaining({ output_path })]);
  having(summary.artifacts.exports[0]!, "workspace_path output_path");
  expect(having(summary.snapshots, "named_count recent").named_count).toBe(1);
}
