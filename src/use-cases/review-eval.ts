import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { ShellOutput } from "../model/shell.ts";
import type { Cloche } from "../sdk/cloche.ts";
import type { UseCase } from "./use-case.ts";

const PROJECT = {
  "CHECKLIST.md": "# Checklist\n\n- confirm the artifact says PASS\n",
  "artifact.txt": "PASS\n",
  "review.sh":
    '#!/bin/sh\nset -eu\nif grep -qx PASS artifact.txt; then\n  printf "review=pass\\n" > review-report.txt\n  printf "review passed\\n"\n' +
    'else\n  printf "review=fail\\n" > review-report.txt\n  printf "review failed\\n" >&2\n  exit 1\nfi\n',
};
const REVIEW = "sh review.sh";
const SNAPSHOT = "pre-review";
const IDLE_MS = 300;

export const reviewEval: UseCase = {
  scenario: "review-eval",
  title: "Review an artifact by a checklist, and go back when it fails",
  profile: "workspace-full",
  mode: "review-eval",
  docPath: "docs/use-cases/review-eval.md",
  smokeTarget: "smoke-review-eval",
  async run({ client, folder, seed, create, step }) {
    const output_path = join(folder, "review-report.txt");
    const { workspace_id: id } = await step("create a workspace from the project", async () =>
      create({ seed_path: await seed(PROJECT), name: "review" }),
    );
    await step("keep the state before the review", async (expect) => {
      const made = await client.createSnapshot(id, SNAPSHOT);
      expect("snapshot", made.snapshot, { snapshot_name: SNAPSHOT, kind: "named" });
    });
    await step("read the checklist in a shell", async (expect) => {
      const { shell_id: shell, state } = await client.openShell(id);
      expect("state", state, "running");
      await client.writeShell(id, shell, { input: "cat CHECKLIST.md" });
      const read = await readUntil(client, id, shell, "- confirm the artifact says PASS");
      expect("read", read, { state: "running", cursor: 0, plain: true, wait_for_idle_ms: IDLE_MS, truncated: false });
      expect("closed", await client.closeShell(id, shell), { shell_id: shell, closed: true });
    });
    await step("review, and pass", async (expect) => {
      const result = await client.execWorkspace(id, { command: REVIEW });
      expect("exec", result, { exit_code: 0, stdout: "review passed\n", stderr: "" });
    });
    await step("take the report out", async (expect) => {
      const exported = await client.exportWorkspace(id, "review-report.txt", { output_path });
      expect("export", exported, { output_path, artifact_type: "file" });
      expect("report", await readFile(output_path, "utf8"), "review=pass\n");
    });
    await step("review a spoilt artifact, and fail", async (expect) => {
      const written = await client.writeWorkspaceFile(id, "artifact.txt", { text: "FAIL\n" });
      expect("written", written, { bytes_written: 5 });
      const result = await client.execWorkspace(id, { command: REVIEW });
      expect("exec", result, { exit_code: 1, stdout: "", stderr: "review failed\n" });
    });
    await step("read the summary", async (expect) => {
      const summary = await client.summarizeWorkspace(id);
      const outcome = { command_count: 2, export_count: 1, snapshot_count: 1, reset_count: 0 };
      expect("summary", summary, {
        outcome,
        changes: { available: true, changed: true },
        snapshots: { named_count: 1 },
      });
      const changed = summary.changes.entries.find(({ path }) => path === "/workspace/artifact.txt");
      expect("artifact", changed, { status: "modified", artifact_type: "file" });
      expect("exports", summary.artifacts.exports, [{ output_path, artifact_type: "file" }]);
    });
    await step("go back to the snapshot, and pass again", async (expect) => {
      const reset = await client.resetWorkspace(id, { snapshot: SNAPSHOT });
      expect("reset", reset, { reset_count: 1, workspace_reset: { snapshot_name: SNAPSHOT } });
      expect("exec", await client.execWorkspace(id, { command: REVIEW }), { exit_code: 0, stdout: "review passed\n" });
    });
    await step("delete the workspace", async (expect) => {
      expect("deleted", await client.deleteWorkspace(id), { workspace_id: id, deleted: true });
    });
  },
};

const MAX_READS = 60;

/** Quiet may also mean that the shell has not come to it yet, on a machine that is busy. */
async function readUntil(client: Cloche, id: string, shell: string, text: string): Promise<ShellOutput> {
  for (let reads = 1; ; reads += 1) {
    const read = await client.readShell(id, shell, { cursor: 0, plain: true, wait_for_idle_ms: IDLE_MS });
    if (read.output.includes(text)) return read;
    if (reads === MAX_READS)
      throw new Error(`expected the shell to show "${text}", it shows ${JSON.stringify(read.output)}`);
  }
}
