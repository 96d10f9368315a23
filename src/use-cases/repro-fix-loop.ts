import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { UseCase } from "./use-case.ts";

const PROJECT = {
  "message.txt": "broken\n",
  "check.sh":
    '#!/bin/sh\nset -eu\nvalue=$(cat message.txt)\n[ "$value" = "fixed" ] || {\n  printf "expected fixed got %s\\n" "$value" >&2\n  exit 1\n}\nprintf "%s\\n" "$value"\n',
};
const PATCH = "--- a/message.txt\n+++ b/message.txt\n@@ -1 +1 @@\n-broken\n+fixed\n";
const CHECK = "sh check.sh";
const FAILING = { exit_code: 1, stdout: "", stderr: "expected fixed got broken\n" };

export const reproFixLoop: UseCase = {
  scenario: "repro-fix-loop",
  title: "Reproduce a failure, repair it with one patch, prove it, start over",
  profile: "workspace-core",
  mode: "repro-fix",
  docPath: "docs/use-cases/repro-fix-loop.md",
  smokeTarget: "smoke-repro-fix-loop",
  async run({ client, folder, seed, create, step }) {
    const { workspace_id: id } = await step("create a workspace from the project", async () =>
      create({ seed_path: await seed(PROJECT), name: "repro-fix", labels: { issue: "fix-123" } }),
    );
    await step("see the check fail", async (expect) => {
      expect("exec", await client.execWorkspace(id, { command: CHECK }), FAILING);
    });
    await step("read the file at fault", async (expect) => {
      const file = await client.readWorkspaceFile(id, "message.txt");
      expect("file", file, { content: "broken\n", size_bytes: 7, truncated: false });
    });
    await step("apply the patch", async (expect) => {
      const applied = await client.applyWorkspacePatch(id, { patch: PATCH });
      expect("patch", applied, { changed: true, files: [{ path: "/workspace/message.txt", status: "modified" }] });
    });
    await step("see the check pass", async (expect) => {
      const result = await client.execWorkspace(id, { command: CHECK });
      expect("exec", result, { exit_code: 0, stdout: "fixed\n", stderr: "" });
    });
    await step("look at the difference", async (expect) => {
      const diff = await client.diffWorkspace(id);
      expect("diff", diff, { changed: true, summary: { total: 1, modified: 1 } });
      expect("diff.entries", diff.entries, [{ path: "/workspace/message.txt", status: "modified" }]);
      expect("the diff has the fix", diff.patch.includes("\n-broken\n+fixed\n"), true);
    });
    await step("take the repaired file out", async (expect) => {
      const output_path = join(folder, "message.txt");
      const exported = await client.exportWorkspace(id, "message.txt", { output_path });
      expect("export", exported, { output_path, artifact_type: "file" });
      expect("file on the host", await readFile(output_path, "utf8"), "fixed\n");
    });
    await step("reset, and be back at the failure", async (expect) => {
      const reset = await client.resetWorkspace(id);
      expect("reset", reset, { workspace_id: id, reset_count: 1, workspace_reset: { snapshot_name: "baseline" } });
      expect("diff", await client.diffWorkspace(id), { changed: false, entries: [], patch: "" });
      expect("exec", await client.execWorkspace(id, { command: CHECK }), { ...FAILING, sequence: 1 });
    });
    await step("delete the workspace", async (expect) => {
      expect("deleted", await client.deleteWorkspace(id), { workspace_id: id, deleted: true });
    });
  },
};
