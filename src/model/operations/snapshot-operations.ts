import type { SnapshotDeleted, SnapshotList, SnapshotMade, WorkspaceReset } from "../snapshot.ts";
import type { Workspace } from "../workspace.ts";
import { type Operation, typeOnly } from "../operation.ts";

export const snapshotOperations = {
  /** `live`: with what runs, where the backend can. */
  createSnapshot: {
    kind: "call",
    input: ({ z, snapshotFields }) => z.strictObject({ ...snapshotFields, live: z.boolean().optional() }),
    result: typeOnly<SnapshotMade>(),
    about: "record",
    repeatable: false,
    activity: "done",
    lane: "making",
    cli: "workspace snapshot create",
    mcp: { tool: "snapshot_create", profile: "full", reach: "workspace" },
  },
  listSnapshots: {
    kind: "call",
    input: ({ z, workspaceId }) => z.strictObject({ workspace_id: workspaceId }),
    result: typeOnly<SnapshotList>(),
    about: "record",
    repeatable: true,
    activity: "none",
    lane: "light",
    cli: "workspace snapshot list",
    mcp: { tool: "snapshot_list", profile: "full", reach: "workspace" },
  },
  deleteSnapshot: {
    kind: "call",
    input: ({ z, snapshotFields }) => z.strictObject(snapshotFields),
    result: typeOnly<SnapshotDeleted>(),
    about: "record",
    repeatable: false,
    activity: "none",
    lane: "light",
    cli: "workspace snapshot delete",
    mcp: { tool: "snapshot_delete", profile: "full", reach: "workspace" },
  },
  resetWorkspace: {
    kind: "call",
    input: ({ z, workspaceId, name }) => z.strictObject({ workspace_id: workspaceId, snapshot: name.optional() }),
    result: typeOnly<WorkspaceReset>(),
    about: "record",
    repeatable: false,
    activity: "recorded",
    lane: "making",
    cli: "workspace reset",
    mcp: { tool: "workspace_reset", profile: "core", reach: "workspace" },
  },
  /** Without a snapshot: from the workspace as it is now. */
  forkWorkspace: {
    kind: "call",
    input: ({ z, workspaceId, name, WorkspaceName, Labels, lifeFields }) =>
      z.strictObject({
        workspace_id: workspaceId,
        snapshot: name.optional(),
        name: WorkspaceName.optional(),
        /** Its baseline is what it begins with, instead of the parent's. */
        rebase: z.boolean().optional(),
        /** Instead of the parent's. */
        labels: Labels.optional(),
        ...lifeFields,
      }),
    result: typeOnly<Workspace>(),
    about: "sandbox",
    repeatable: false,
    activity: "none",
    lane: "making",
    cli: "workspace fork",
    mcp: { tool: "workspace_fork", profile: "full", reach: "decided" },
  },
} as const satisfies Record<string, Operation>;
