import type { Summary } from "../summary.ts";
import type { DeletedWorkspace, Workspace, WorkspaceList } from "../workspace.ts";
import { type Operation, typeOnly } from "../operation.ts";

export const workspaceOperations = {
  createWorkspace: {
    kind: "call",
    input: ({ z, ...fields }) =>
      z.strictObject({
        ...fields.placeFields,
        seed_path: fields.path.optional(),
        ...fields.includeFields,
        /** Keeps what is included of this project for later workspaces that say nothing about it; where nothing is, that is forgotten. */
        remember_include: z.boolean().optional(),
        /** The seed is refused where it is not in there. */
        read_scope: fields.ReadScope.optional(),
        /** With what another workspace is now, instead of a seed; on another backend it moves there. */
        from_workspace: fields.workspaceId.optional(),
        origin_kind: fields.SeedOrigin.optional(),
        origin_ref: z.string().max(4096).optional(),
        name: fields.WorkspaceName.optional(),
        labels: fields.Labels.optional(),
        network_policy: fields.NetworkPolicy.optional(),
        /** Hosts that an egress policy lets out to; `*` is all. */
        allow_hosts: z.array(fields.AllowedHost).max(256).optional(),
        /** Instead of `allow_hosts`: whole routes, with credentials that the gate puts in. */
        egress: fields.EgressPolicy.optional(),
        egress_tokens: fields.egressTokens.optional(),
        secrets: z.array(fields.Secret).max(64).optional(),
        /** Asked again with the same key, the workspace that was made is the answer. */
        idempotency_key: z.string().min(1).max(256).optional(),
        ...fields.lifeFields,
        /** It never expires. */
        keep: z.boolean().optional(),
        /** How long it is kept when its time is over and it holds changes; 0: it goes at once. */
        grace_seconds: z.number().min(0).max(31_536_000).optional(),
      }),
    result: typeOnly<Workspace>(),
    about: "host",
    repeatable: false,
    activity: "recorded",
    lane: "making",
    cli: "workspace create",
    mcp: { tool: "workspace_create", profile: "core", reach: "decided" },
  },
  listWorkspaces: {
    kind: "call",
    input: ({ z }) => z.strictObject({}),
    result: typeOnly<WorkspaceList>(),
    about: "host",
    repeatable: true,
    activity: "none",
    lane: "light",
    cli: "workspace list",
    mcp: { tool: "workspace_list", profile: "core", reach: "decided" },
  },
  updateWorkspace: {
    kind: "call",
    input: ({ z, workspaceId, WorkspaceName, Labels, ttlSeconds }) =>
      z.strictObject({
        workspace_id: workspaceId,
        name: WorkspaceName.nullable().optional(),
        labels: Labels.optional(),
        clear_labels: z.array(z.string()).max(256).optional(),
        ttl_seconds: ttlSeconds.optional(),
        /** True: it never expires. False: it does again, from now on. */
        keep: z.boolean().optional(),
      }),
    result: typeOnly<Workspace>(),
    about: "record",
    repeatable: true,
    activity: "recorded",
    lane: "light",
    cli: "workspace update",
    mcp: { tool: "workspace_update", profile: "core", reach: "decided" },
  },
  statusWorkspace: {
    kind: "call",
    input: ({ z, workspaceId }) => z.strictObject({ workspace_id: workspaceId }),
    result: typeOnly<Workspace>(),
    about: "record",
    repeatable: true,
    activity: "none",
    lane: "light",
    cli: "workspace status",
    mcp: { tool: "workspace_status", profile: "core", reach: "workspace" },
  },
  summarizeWorkspace: {
    kind: "call",
    input: ({ z, workspaceId }) => z.strictObject({ workspace_id: workspaceId }),
    result: typeOnly<Summary>(),
    about: "sandbox",
    repeatable: true,
    activity: "none",
    lane: "heavy",
    cli: "workspace summary",
    mcp: { tool: "workspace_summary", profile: "core", reach: "workspace" },
  },
  deleteWorkspace: {
    kind: "call",
    input: ({ z, workspaceId }) => z.strictObject({ workspace_id: workspaceId }),
    result: typeOnly<DeletedWorkspace>(),
    about: "record",
    repeatable: false,
    activity: "none",
    lane: "always",
    cli: "workspace delete",
    mcp: { tool: "workspace_delete", profile: "core", reach: "workspace" },
  },
  stopWorkspace: {
    kind: "call",
    input: ({ z, workspaceId }) => z.strictObject({ workspace_id: workspaceId }),
    result: typeOnly<Workspace>(),
    about: "record",
    repeatable: false,
    activity: "recorded",
    lane: "always",
    cli: "workspace stop",
    mcp: { tool: "workspace_stop", profile: "full", reach: "workspace" },
  },
  startWorkspace: {
    kind: "call",
    input: ({ z, workspaceId }) => z.strictObject({ workspace_id: workspaceId }),
    result: typeOnly<Workspace>(),
    about: "sandbox",
    repeatable: false,
    activity: "recorded",
    lane: "making",
    cli: "workspace start",
    mcp: { tool: "workspace_start", profile: "full", reach: "workspace" },
  },
} as const satisfies Record<string, Operation>;
