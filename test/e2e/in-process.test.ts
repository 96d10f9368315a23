import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { silentLog } from "../../src/base/log.ts";
import { placesFrom } from "../../src/base/paths.ts";
import { compose } from "../../src/daemon/compose.ts";
import { openStore } from "../../src/store/open-store.ts";
import type { CallContext } from "../../src/workspaces/verb.ts";
import { Installation } from "../helpers/installation.ts";

const at = new Installation("ip");
afterAll(() => at[Symbol.asyncDispose]());

const CONTEXT: CallContext = { signal: new AbortController().signal, progress: () => undefined };
const PATCH = "--- /dev/null\n+++ b/patched\n@@ -0,0 +1 @@\n+x\n";

it("a caller in the daemon's own process leaves the same trace as one at its socket", async () => {
  const store = openStore(join(at.home, "store.sqlite"));
  if (store === "locked") throw new Error("locked");
  const places = placesFrom(at.env, at.home);
  const made = await compose({ places, store, log: silentLog, config: () => ({}), workChanged: () => undefined });
  const { handlers } = made;
  const { workspace_id } = await handlers.createWorkspace({ environment: "host", backend: "container" }, CONTEXT);
  try {
    const activity = () => store.findWorkspace(workspace_id)?.lastActivityAt ?? 0;
    const input = { workspace_id };
    await handlers.execWorkspace({ ...input, command: "echo done" }, CONTEXT);
    await handlers.writeWorkspaceFile({ ...input, path: "a", text: "a" }, CONTEXT);
    await handlers.applyWorkspacePatch({ ...input, patch: PATCH }, CONTEXT);
    const output_path = at.path("out");
    await handlers.exportWorkspace({ ...input, path: "a", output_path }, CONTEXT);
    expect(existsSync(output_path)).toBe(true);
    const before = activity();
    await handlers.createSnapshot({ ...input, snapshot_name: "one" }, CONTEXT);
    expect(activity()).toBeGreaterThan(before);

    const { commands, edits, artifacts } = await handlers.summarizeWorkspace(input, CONTEXT);
    expect(commands.recent).toMatchObject([{ command: "echo done", state: "done", exit_code: 0 }]);
    expect(edits.recent.map(({ kind }) => kind)).toEqual(["file.written", "patch.applied"]);
    expect(artifacts.exports).toMatchObject([{ workspace_path: "/workspace/a", output_path }]);
  } finally {
    await handlers.deleteWorkspace({ workspace_id }, CONTEXT);
    await made.close();
    store.close();
  }
});
