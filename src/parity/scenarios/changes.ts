import assert from "node:assert/strict";
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
