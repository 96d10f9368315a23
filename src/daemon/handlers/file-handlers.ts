import { applyPatch } from "../../workspaces/apply-patch.ts";
import { diffWorkspace } from "../../workspaces/diff-workspace.ts";
import { exportDisk } from "../../workspaces/disk-verbs.ts";
import { exportPath, listFiles, readFile, writeFile } from "../../workspaces/file-verbs.ts";
import type { LiveWorkspace } from "../../workspaces/live-workspace.ts";
import { pushSync } from "../../workspaces/push-sync.ts";
import type { fileOperations } from "../../model/operations/file-operations.ts";
import type { Verbs } from "../verbs.ts";
import type { HandlersOf } from "../handlers.ts";

/** Of a patch, in the record of what happened. */
const MAX_RECORDED_FILES = 100;

export function fileHandlers({ deps, workspaces }: Verbs): HandlersOf<typeof fileOperations> {
  /** A verb that changes files is activity. */
  const changing = async <Result>(id: string, verb: (live: LiveWorkspace) => Promise<Result>): Promise<Result> => {
    const live = workspaces.live(id);
    const result = await verb(live);
    workspaces.touch(live.workspaceId);
    return result;
  };
  return {
    listWorkspaceFiles: async (input) => await listFiles(workspaces.live(input.workspace_id), input),
    readWorkspaceFile: async (input) => await readFile(workspaces.live(input.workspace_id), input),
    writeWorkspaceFile: (input) => changing(input.workspace_id, (live) => writeFile(deps, live, input)),
    applyWorkspacePatch: (input) =>
      changing(input.workspace_id, async (live) => {
        const applied = await applyPatch(live, input);
        const files = applied.files.slice(0, MAX_RECORDED_FILES).map(({ path, status }) => ({ path, status }));
        const told = { files, file_count: applied.files.length };
        if (applied.changed) deps.events.record({ kind: "patch.applied", workspace_id: live.workspaceId, ...told });
        return applied;
      }),
    diffWorkspace: async ({ workspace_id: id }) => await diffWorkspace(workspaces.live(id)),
    exportWorkspace: (input, { signal }) =>
      changing(input.workspace_id, (live) => exportPath(deps, live, input, signal)),
    pushWorkspaceSync: (input, context) =>
      changing(input.workspace_id, async (live) => {
        const pushed = await pushSync(deps, live, input, context);
        const { source_path, dest, files } = pushed;
        deps.events.record({ kind: "sync.pushed", workspace_id: live.workspaceId, source_path, dest, files });
        return pushed;
      }),
    listWorkspaceDisk: (input) => workspaces.inspect(input.workspace_id, (live) => listFiles(live, input)),
    readWorkspaceDisk: (input) => workspaces.inspect(input.workspace_id, (live) => readFile(live, input)),
    exportWorkspaceDisk: (input) => workspaces.inspect(input.workspace_id, (live) => exportDisk(deps, live, input)),
  };
}
