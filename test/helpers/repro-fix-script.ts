import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { PROFILES } from "../../src/mcp/profiles.ts";
import type { ToolOutcome } from "./scripted-api/model-wire.ts";
import { callTool, type Script, type ScriptedModel } from "./scripted-api/scripted-model.ts";

const BROKEN = "echo $(($1 - $2))\n";
const FIXED = "echo $(($1 + $2))\n";

/** A git checkout with a test that fails, and the bug in one line. */
export function makeBrokenProject(folder: string): void {
  mkdirSync(folder);
  writeFileSync(join(folder, "add.sh"), BROKEN);
  writeFileSync(
    join(folder, "test.sh"),
    'sum=$(sh add.sh 2 3)\n[ "$sum" = 5 ] || { echo "2 + 3 is $sum" >&2; exit 1; }\n',
  );
  const git = (...words: string[]) =>
    execFileSync("git", ["-C", folder, "-c", "user.name=t", "-c", "user.email=t@example.com", ...words]);
  git("init", "--quiet");
  git("add", ".");
  git("commit", "--quiet", "-m", "First");
}

const PATCH = `--- a/add.sh
+++ b/add.sh
@@ -1 +1 @@
-${BROKEN}+${FIXED}`;

/** The model's part of the loop: reproduce, read, patch, prove, take out, leave nothing behind; and one call too many. */
export function reproFixScript(outputPath: string): Script {
  return function* () {
    const { workspace_id } = documentOf(yield callTool("workspace_create", { name: "repro" }));
    const at = { workspace_id };
    yield callTool("workspace_exec", { ...at, command: "sh test.sh" });
    yield callTool("workspace_file_read", { ...at, path: "add.sh" });
    yield callTool("workspace_patch_apply", { ...at, patch: PATCH });
    yield callTool("workspace_exec", { ...at, command: ["sh", "test.sh"] });
    yield callTool("workspace_diff", at);
    yield callTool("workspace_export", { ...at, path: "add.sh", output_path: outputPath });
    yield callTool("workspace_delete", at);
    yield callTool("workspace_exec", { ...at, command: "true" });
    return "The sum is right now";
  };
}

/** The document in what an agent reports about a call: some put a line of their own before it. */
export function documentOf({ text }: ToolOutcome): Record<string, unknown> {
  const start = text.indexOf("{");
  if (start === -1) throw new Error(`no document in what the agent reported: ${text}`);
  return JSON.parse(text.slice(start)) as Record<string, unknown>;
}

/** What the agent received from each tool, and what the loop left on the host. */
export function expectReproFix(model: ScriptedModel, project: string, outputPath: string): void {
  expect(model.problems).toEqual([]);
  expect(model.finished).toBe(true);
  const verbs = ["create", "exec", "file_read", "patch_apply", "exec", "diff", "export", "delete", "exec"];
  expect(model.calls.map(({ tool }) => tool)).toEqual(verbs.map((verb) => `workspace_${verb}`));
  const offered = model.requests[0]?.tools.map(({ name }) => name.replace(/^mcp__cloche__/, "")) ?? [];
  expect(offered).toEqual(expect.arrayContaining([...PROFILES["workspace-core"]]));

  const late = model.calls.at(-1)!.outcome;
  expect(late.text).toContain("WORKSPACE_NOT_FOUND");
  expect(late.text, "the next step, for the model to read").toContain("workspace_list");
  const done = model.calls.slice(0, -1);
  expect(done.filter(({ outcome }) => outcome.isError)).toEqual([]);
  const [created, failing, read, patched, passing, diff, exported, deleted] = done.map(({ outcome }) =>
    documentOf(outcome),
  );
  const { workspace_id } = created!;
  expect(created).toMatchObject({
    workspace_id: expect.stringMatching(/^ws-/) as string,
    name: "repro",
    workspace_seed: { mode: "directory", origin_kind: "project_path", origin_ref: project },
  });
  expect(failing).toMatchObject({ exit_code: 1, stderr: "2 + 3 is -1\n" });
  expect(read).toMatchObject({ path: "/workspace/add.sh", content: BROKEN });
  expect(patched).toMatchObject({ changed: true, files: [{ path: "/workspace/add.sh", status: "modified" }] });
  expect(passing).toMatchObject({ exit_code: 0, stderr: "" });
  expect(diff).toMatchObject({
    summary: { total: 1, modified: 1 },
    patch: expect.stringContaining(`-${BROKEN}+${FIXED}`) as string,
  });
  expect(exported).toMatchObject({ output_path: outputPath, artifact_type: "file" });
  expect(deleted).toMatchObject({ workspace_id });
  expect(readFileSync(outputPath, "utf8")).toBe(FIXED);
  expect(readFileSync(join(project, "add.sh"), "utf8")).toBe(BROKEN);
  expect(execFileSync("git", ["-C", project, "status", "--porcelain"], { encoding: "utf8" })).toBe("");
  expect(readdirSync(join(project, ".cloche"))).toEqual(["exports"]);
}
