import { z } from "zod";
import { Included, LeftOut } from "./seed-content.ts";
import { ExecutionMode, NAME, NetworkPolicy, SECRET_NAME, WorkspaceState } from "./names.ts";

/** Labels: keys as names, values free text without control characters. */
export const Labels = z.record(
  z.string().regex(NAME, "a label key is 1 to 64 letters, digits, '.', '_' or '-', and starts with a letter or digit"),
  z
    .string()
    .max(256)
    .regex(/^[^\p{Cc}]*$/u, "a label value has no control characters"),
);
export type Labels = z.infer<typeof Labels>;

export const WorkspaceName = z
  .string()
  .regex(NAME, "a name is 1 to 64 letters, digits, '.', '_' or '-', and starts with a letter or digit");

export const SeedOrigin = z.enum(["project_path", "repo_url", "seed_path"]);

export const WorkspaceSeed = z.object({
  mode: z.enum(["empty", "directory", "tar_archive"]),
  seed_path: z.string().nullable(),
  origin_kind: SeedOrigin.nullable(),
  origin_ref: z.string().nullable(),
  /** Null where git ignores nothing, or there is no git. */
  left_out: LeftOut.nullable(),
  /** Null unless ignored files were asked for. */
  included: Included.nullable(),
});
export type WorkspaceSeed = z.infer<typeof WorkspaceSeed>;

export const Limits = z.strictObject({
  vcpu_count: z.number().int().min(1).max(256).optional(),
  mem_mib: z.number().int().min(64).max(1_048_576).optional(),
  pids: z.number().int().min(16).max(4_194_304).optional(),
  /** Refused whatever it is, with the reason: no backend holds it. */
  disk_mib: z.number().optional(),
});
export type Limits = z.infer<typeof Limits>;

/** `ModelUsageTotal` as a schema. */
const ModelUsed = z.object({
  requests: z.number(),
  input_tokens: z.number(),
  output_tokens: z.number(),
  cache_read_tokens: z.number(),
  cache_write_tokens: z.number(),
});

/** A workspace as every surface shows it. Times are Unix seconds. */
export const Workspace = z.object({
  workspace_id: z.string(),
  name: z.string().nullable(),
  labels: Labels,
  environment: z.string(),
  backend: z.string(),
  state: WorkspaceState,
  /** Why a `failed` workspace failed, in one sentence. */
  state_reason: z.string().nullable(),
  network_policy: NetworkPolicy,
  created_at: z.number(),
  last_activity_at: z.number(),
  /** When its time to live is over unless something happens before; of an expired one, when it was. Null for one that is kept. */
  expires_at: z.number().nullable(),
  ttl_seconds: z.number(),
  /** It never expires. */
  keep: z.boolean(),
  /** When an expired one is deleted. */
  deletes_at: z.number().nullable(),
  execution_mode: ExecutionMode,
  vcpu_count: z.number(),
  mem_mib: z.number(),
  command_count: z.number(),
  service_count: z.number(),
  running_service_count: z.number(),
  /** Those that run. */
  shell_count: z.number(),
  reset_count: z.number(),
  workspace_seed: WorkspaceSeed,
  /** Tokens that models took through its gate, in all. */
  model_usage: ModelUsed,
  secrets: z.array(z.object({ name: z.string().regex(SECRET_NAME), source_kind: z.enum(["literal", "file"]) })),
});
export type Workspace = z.infer<typeof Workspace>;

export interface WorkspaceList {
  count: number;
  workspaces: Workspace[];
}

export interface DeletedWorkspace {
  workspace_id: string;
  deleted: true;
}
