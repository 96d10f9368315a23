import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { scenarios } from "../scenario.ts";

const PATCH = `--- a/src/main.txt
+++ b/src/main.txt
@@ -1,3 +1,3 @@
 one
-two
+TWO
 three
--- /dev/null
+++ b/added.txt
@@ -0,0 +1 @@
+new
`;

export const CHANGE_SCENARIOS = scenarios("changes", {
  "a new workspace has no changes": async (at) => {
    const diff = await at.client.diffWorkspace(await at.create());
    assert.deepEqual([diff.changed, diff.entries, diff.patch], [false, [], ""]);
  },
  "a diff has what was added, modified, deleted, renamed and turned into something else": async (at) => {
    const id = await at.create();
    await at.out(
      id,
      "echo four >> src/main.txt; rm README.md; ln -s src README.md; mv src/other.txt moved.txt; echo new > new.txt; rm run.sh; mkdir empty",
    );
    const { entries, summary } = await at.client.diffWorkspace(id);
    assert.deepEqual(
      entries.map(({ path, status }) => `${status} ${path}`),
      [
        "type_changed /workspace/README.md",
        "renamed /workspace/moved.txt",
        "added /workspace/new.txt",
        "deleted /workspace/run.sh",
        "modified /workspace/src/main.txt",
      ],
    );
    assert.equal(summary.total, 5);
  },
  "a file that was changed and changed back is no change": async (at) => {
    const id = await at.create();
    await at.out(
      id,
      "cp src/main.txt keep; echo x > src/main.txt; cat keep > src/main.txt; rm keep; rm run.sh; echo 'echo ran' > run.sh",
    );
    assert.equal((await at.client.diffWorkspace(id)).changed, false);
  },
  "what the project ignores is counted, and shown when it is asked for": async (at) => {
    const seed = join(at.target.folder, "ignoring");
    await mkdir(join(seed, "src"), { recursive: true });
    await writeFile(join(seed, ".gitignore"), "node_modules/\n*.log\n!keep.log\n");
    await writeFile(join(seed, "src/main.txt"), "one\n");
    const id = await at.create({ seed_path: seed });
    await at.out(
      id,
      "mkdir -p node_modules/a/b src/new; echo 1 > node_modules/a/b/1; echo 2 > node_modules/2; echo x > src/x.log; echo k > src/new/keep.log; echo two >> src/main.txt; echo '*' > .gitignore",
    );
    const told = async (options = {}) => {
      const { entries, ignored_count } = await at.client.diffWorkspace(id, options);
      return [...entries.map(({ path }) => path.replace("/workspace/", "")), ignored_count];
    };
    const shown = [".gitignore", "src/main.txt", "src/new/keep.log"];
    assert.deepEqual(await told(), [...shown, 3]);
    assert.deepEqual(await told({ path: "node_modules" }), ["node_modules/2", "node_modules/a/b/1", 0]);
    assert.deepEqual(await told({ path: ["src/x.log", "src/new"] }), ["src/new/keep.log", "src/x.log", 0]);
    assert.equal((await told({ include_ignored: true })).length, 7);
    const { changes } = await at.client.summarizeWorkspace(id);
    assert.deepEqual([changes.summary.total, changes.ignored_count], [3, 3]);
  },
  "a patch of a diff makes the same changes elsewhere": async (at) => {
    const [one, two] = [await at.create(), await at.create()];
    await at.out(one, "echo changed > src/main.txt; echo new > new.txt; chmod 755 run.sh; rm README.md");
    const { patch } = await at.client.diffWorkspace(one);
    await at.client.applyWorkspacePatch(two, { patch });
    assert.equal((await at.client.diffWorkspace(two)).patch, patch);
  },
  "a patch is applied": async (at) => {
    const id = await at.create();
    await at.client.applyWorkspacePatch(id, { patch: PATCH });
    assert.equal(await at.out(id, "cat src/main.txt added.txt"), "one\nTWO\nthree\nnew\n");
  },
  "a patch that does not fit changes nothing": async (at) => {
    const id = await at.create();
    await at.out(id, "echo else > src/main.txt");
    assert.equal(await at.refusal(at.client.applyWorkspacePatch(id, { patch: PATCH })), "PATCH_REJECTED");
    assert.equal(await at.refusal(at.client.applyWorkspacePatch(id, { patch: "no patch" })), "PATCH_INVALID");
    assert.equal(await at.out(id, "cat src/main.txt; ls added.txt 2>/dev/null || echo none"), "else\nnone\n");
  },
  "a summary tells what happened": async (at) => {
    const id = await at.create();
    await at.sh(id, "echo x > x.txt; exit 3");
    await at.client.createSnapshot(id, "kept");
    const summary = await at.client.summarizeWorkspace(id);
    assert.deepEqual(
      [summary.outcome.command_count, summary.outcome.snapshot_count, summary.changes.changed],
      [1, 1, true],
    );
    assert.equal(summary.outcome.last_command?.exit_code, 3);
  },
});
