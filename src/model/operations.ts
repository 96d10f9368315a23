import { z } from "zod";
import { Command } from "./exec.ts";
import { NetworkPolicy } from "./names.ts";
import { Labels, SeedOrigin, WorkspaceName } from "./workspace.ts";

/**
 * What the daemon can be asked, one schema per operation: `POST /v1/NAME` with the input as JSON. The SDK's methods have the same
 * names. Unknown keys are errors.
 */
const workspaceId = z.string().min(1).max(64);
const path = z
  .string()
  .min(1)
  .max(4096)
  .refine((text) => !text.includes("\0"), "a path has no NUL");

export const createInput = z.strictObject({
  environment: z.string().min(1).max(256).optional(),
  backend: z.string().min(1).max(64).optional(),
  oci_runtime: z.string().min(1).max(4096).optional(),
  seed_path: path.optional(),
  origin_kind: SeedOrigin.optional(),
  origin_ref: z.string().max(4096).optional(),
  name: WorkspaceName.optional(),
  labels: Labels.optional(),
  network_policy: NetworkPolicy.optional(),
  ttl_seconds: z.number().positive().max(31_536_000).optional(),
  vcpu_count: z.number().int().min(1).max(256).optional(),
  mem_mib: z.number().int().min(64).max(1_048_576).optional(),
});

const execFields = {
  command: Command,
  timeout_seconds: z.number().positive().max(86_400).optional(),
  cwd: path.optional(),
  env: z.record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/), z.string().max(131_072)).optional(),
};

export const OPERATIONS = {
  createWorkspace: createInput,
  listWorkspaces: z.strictObject({}),
  statusWorkspace: z.strictObject({ workspace_id: workspaceId }),
  updateWorkspace: z.strictObject({
    workspace_id: workspaceId,
    name: WorkspaceName.nullable().optional(),
    labels: Labels.optional(),
    clear_labels: z.array(z.string()).max(256).optional(),
  }),
  deleteWorkspace: z.strictObject({ workspace_id: workspaceId }),
  execWorkspace: z.strictObject({ workspace_id: workspaceId, ...execFields }),
  /** Full duplex: the body is one JSON line, then standard input; the answer is frames (`stream-frames.ts`). */
  streamWorkspace: z.strictObject({
    workspace_id: workspaceId,
    ...execFields,
    /** Whether the rest of the request body is the command's standard input. */
    stdin: z.boolean().optional(),
    /** A terminal of this size instead of pipes. */
    pty: z
      .strictObject({ cols: z.number().int().min(1).max(1000), rows: z.number().int().min(1).max(1000) })
      .optional(),
  }),
  /** Joins a command that is still running, from absolute output offsets on: how a client goes on after the daemon's death. */
  attachCommand: z.strictObject({
    workspace_id: workspaceId,
    sequence: z.number().int().min(1),
    stdout_offset: z.number().int().min(0),
    stderr_offset: z.number().int().min(0),
  }),
  signalCommand: z.strictObject({
    workspace_id: workspaceId,
    sequence: z.number().int().min(1),
    signal: z.enum(["HUP", "INT", "QUIT", "TERM", "KILL", "USR1", "USR2", "WINCH"]),
  }),
  resizeCommand: z.strictObject({
    workspace_id: workspaceId,
    sequence: z.number().int().min(1),
    cols: z.number().int().min(1).max(1000),
    rows: z.number().int().min(1).max(1000),
  }),
  logsWorkspace: z.strictObject({ workspace_id: workspaceId }),
  listWorkspaceFiles: z.strictObject({
    workspace_id: workspaceId,
    path: path.optional(),
    recursive: z.boolean().optional(),
  }),
  readWorkspaceFile: z.strictObject({
    workspace_id: workspaceId,
    path,
    // What of it is escaped takes six characters in JSON, and a string of that has to be possible.
    max_bytes: z.number().int().min(1).max(67_108_864).optional(),
  }),
  writeWorkspaceFile: z.strictObject({
    workspace_id: workspaceId,
    path,
    text: z.string().max(67_108_864),
    mode: z.number().int().min(0).max(0o777).optional(),
  }),
  diffWorkspace: z.strictObject({ workspace_id: workspaceId }),
  exportWorkspace: z.strictObject({ workspace_id: workspaceId, path, output_path: path }),
  listEnvironments: z.strictObject({}),
  pullEnvironment: z.strictObject({ environment: z.string().min(1) }),
  inspectEnvironment: z.strictObject({ environment: z.string().min(1) }),
  pruneEnvironments: z.strictObject({}),
  doctor: z.strictObject({ oci_runtime: z.string().min(1).max(4096).optional() }),
  daemonStatus: z.strictObject({}),
  stopDaemon: z.strictObject({}),
} as const satisfies Record<string, z.ZodType>;

export type OperationName = keyof typeof OPERATIONS;
export type OperationInput<Name extends OperationName> = z.input<(typeof OPERATIONS)[Name]>;
