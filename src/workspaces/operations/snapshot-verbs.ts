import type { snapshotOperations } from "../../model/operations/snapshot-operations.ts";
import type { Dependencies } from "../dependencies.ts";
import { createSnapshot, deleteSnapshot, listSnapshots } from "../snapshots.ts";
import type { WorkspaceVerbs } from "../verb.ts";
import type { Workspaces } from "../workspaces.ts";

export function snapshotVerbs(deps: Dependencies, workspaces: Workspaces): WorkspaceVerbs<typeof snapshotOperations> {
  const { turns } = workspaces;
  return {
    createSnapshot: (found, { snapshot_name: name, live }, { signal }) =>
      turns.take(found.workspaceId, () => createSnapshot(deps, found.stored, { name, live }, signal)),
    listSnapshots: ({ stored }) => listSnapshots(deps, stored),
    deleteSnapshot: (found, { snapshot_name: name }) =>
      turns.take(found.workspaceId, () => deleteSnapshot(deps, found.stored, name)),
    resetWorkspace: ({ workspaceId }, { snapshot }, context) => workspaces.reset(workspaceId, snapshot, context),
    forkWorkspace: ({ workspaceId }, input, context) => workspaces.fork(workspaceId, input, context),
  };
}
