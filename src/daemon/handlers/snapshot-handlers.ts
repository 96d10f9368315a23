import { createSnapshot, deleteSnapshot, listSnapshots } from "../../workspaces/snapshots.ts";
import type { snapshotOperations } from "../../model/operations/snapshot-operations.ts";
import type { Verbs } from "../verbs.ts";
import type { HandlersOf } from "../handlers.ts";
import { settle } from "./settle.ts";

export function snapshotHandlers({ deps, workspaces }: Verbs): HandlersOf<typeof snapshotOperations> {
  return {
    createSnapshot: async ({ workspace_id: id, snapshot_name: name, live }, { signal }) => {
      const { workspaceId } = workspaces.find(id);
      return await workspaces.turns.take(workspaceId, async () => {
        const made = await createSnapshot(deps, workspaces.find(workspaceId), { name, live }, signal);
        workspaces.touch(workspaceId);
        return made;
      });
    },
    listSnapshots: ({ workspace_id: id }) => settle(() => listSnapshots(deps, workspaces.find(id))),
    deleteSnapshot: async ({ workspace_id: id, snapshot_name: name }) => {
      const { workspaceId } = workspaces.find(id);
      return await workspaces.turns.take(workspaceId, () => deleteSnapshot(deps, workspaces.find(workspaceId), name));
    },
    resetWorkspace: (input, context) => workspaces.reset(input, context),
    forkWorkspace: (input, context) => workspaces.fork(input, context),
  };
}
