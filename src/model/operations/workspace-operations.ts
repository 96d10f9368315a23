import { z } from "zod";
import { NetworkPolicy } from "../names.ts";
import { ReadScope } from "../read-scope.ts";
import { Labels, SeedOrigin, WorkspaceName } from "../workspace.ts";
import { path, secretName, workspaceId } from "./fields.ts";

/** A secret is given by its value, or by a file of the host that holds it. */
const Secret = z.union([
  z.strictObject({ name: secretName, value: z.string() }),
  // `within`: refused unless the file's real path is that folder's or below it.
  z.strictObject({ name: secretName, file_path: path, within: path.optional() }),
]);

export const workspaceOperations = {
  createWorkspace: z.strictObject({
    environment: z.string().min(1).max(256).optional(),
    backend: z.string().min(1).max(64).optional(),
    oci_runtime: z.string().min(1).max(4096).optional(),
    seed_path: path.optional(),
    /** The seed is refused where it is not in there. */
    read_scope: ReadScope.optional(),
    /** With what another workspace is now, instead of a seed; on another backend it moves there. */
    from_workspace: workspaceId.optional(),
    origin_kind: SeedOrigin.optional(),
    origin_ref: z.string().max(4096).optional(),
    name: WorkspaceName.optional(),
    labels: Labels.optional(),
    network_policy: NetworkPolicy.optional(),
    secrets: z.array(Secret).max(64).optional(),
    /** Asked again with the same key, the workspace that was made is the answer. */
    idempotency_key: z.string().min(1).max(256).optional(),
    ttl_seconds: z.number().positive().max(31_536_000).optional(),
    vcpu_count: z.number().int().min(1).max(256).optional(),
    mem_mib: z.number().int().min(64).max(1_048_576).optional(),
  }),
  listWorkspaces: z.strictObject({}),
  statusWorkspace: z.strictObject({ workspace_id: workspaceId }),
  updateWorkspace: z.strictObject({
    workspace_id: workspaceId,
    name: WorkspaceName.nullable().optional(),
    labels: Labels.optional(),
    clear_labels: z.array(z.string()).max(256).optional(),
  }),
  deleteWorkspace: z.strictObject({ workspace_id: workspaceId }),
  stopWorkspace: z.strictObject({ workspace_id: workspaceId }),
  startWorkspace: z.strictObject({ workspace_id: workspaceId }),
  summarizeWorkspace: z.strictObject({ workspace_id: workspaceId }),
};
