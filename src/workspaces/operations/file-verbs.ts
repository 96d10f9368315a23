import type { fileOperations } from "../../model/operations/file-operations.ts";
import { applyPatch } from "../apply-patch.ts";
import type { Dependencies } from "../dependencies.ts";
import { withState } from "../diff/compared-state.ts";
import { diffWorkspace } from "../diff/diff-workspace.ts";
import { exportDisk } from "../export-disk.ts";
import { exportPath, listFiles, readFile, writeFile } from "../files.ts";
import { pushSync } from "../push-sync.ts";
import { review } from "../review.ts";
import type { WorkspaceVerbs } from "../verb.ts";
import type { Workspaces } from "../workspaces.ts";

export function fileVerbs(deps: Dependencies, workspaces: Workspaces): WorkspaceVerbs<typeof fileOperations> {
  return {
    listWorkspaceFiles: ({ live }, input) => listFiles(live, input),
    readWorkspaceFile: ({ live }, input) => readFile(live, input),
    writeWorkspaceFile: ({ live }, input) => writeFile(deps, live, input),
    applyWorkspacePatch: ({ live }, input) => applyPatch(deps, live, input),
    pushWorkspaceSync: ({ live }, input, context) => pushSync(deps, live, input, context),
    diffWorkspace: (found, { since, ...wanted }, { signal }) => {
      const { stored } = found;
      const rules = deps.seeds.ignoreRules(stored.baseline);
      return review(workspaces, found, ({ live, takeTurn }) =>
        withState(deps, { stored, since, takeTurn, signal }, (state) =>
          diffWorkspace({ live, state, rules, signal }, wanted),
        ),
      );
    },
    exportWorkspace: (found, input, { signal }) =>
      review(workspaces, found, ({ live }) => exportPath(deps, live, input, signal)),
    listWorkspaceDisk: ({ workspaceId }, input) => workspaces.inspect(workspaceId, (live) => listFiles(live, input)),
    readWorkspaceDisk: ({ workspaceId }, input) => workspaces.inspect(workspaceId, (live) => readFile(live, input)),
    exportWorkspaceDisk: ({ workspaceId }, input) =>
      workspaces.inspect(workspaceId, (live) => exportDisk(deps, live, input)),
  };
}
