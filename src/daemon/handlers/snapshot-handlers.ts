import { createSnapshot, deleteSnapshot, listSnapshots } from "../../workspaces/snapshots.ts";
import type { Verbs } from "../verbs.ts";
import type { Handlers } from "../handlers.ts";
import { settle } from "./settle.ts";

type Topic = "createSnapshot" | "listSnapshots" | "deleteSnapshot" | "resetWorkspace" | "forkWorkspace";

export function snapshotHandlers({ deps, workspaces }: Verbs): Pick<Handlers, Topic> {
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
