import { z } from "zod";
import { name, workspaceId } from "./fields.ts";
import { WorkspaceName } from "../workspace.ts";

const snapshot = { workspace_id: workspaceId, snapshot_name: name };

export const snapshotOperations = {
  /** `live`: with what runs, where the backend can. */
  createSnapshot: z.strictObject({ ...snapshot, live: z.boolean().optional() }),
  listSnapshots: z.strictObject({ workspace_id: workspaceId }),
  deleteSnapshot: z.strictObject(snapshot),
  resetWorkspace: z.strictObject({ workspace_id: workspaceId, snapshot: name.optional() }),
  /** Without a snapshot: from the workspace as it is now. */
  forkWorkspace: z.strictObject({
    workspace_id: workspaceId,
    snapshot: name.optional(),
    name: WorkspaceName.optional(),
  }),
};
