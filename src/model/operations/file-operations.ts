import {
  type Diff,
  type DiskExported,
  type Exported,
  type FileContent,
  type FileList,
  type FileWritten,
  FILE_ENCODINGS,
  LINK_POLICIES,
  type PatchApplied,
  PLACEMENTS,
  type SyncPushed,
} from "../files.ts";
import type { InputFields } from "../operation.ts";
import { type Operation, typeOnly } from "../operation.ts";

const listInput = ({ z, workspaceId, path }: InputFields) =>
  z.strictObject({ workspace_id: workspaceId, path: path.optional(), recursive: z.boolean().optional() });

const readInput = ({ z, workspaceId, path, maxBytes }: InputFields) =>
  z.strictObject({
    workspace_id: workspaceId,
    path,
    offset: z.number().int().min(0).optional(),
    max_bytes: maxBytes.optional(),
    /** Text where it is text, when not given. */
    encoding: z.enum(FILE_ENCODINGS).optional(),
  });

export const fileOperations = {
  listWorkspaceFiles: {
    kind: "call",
    input: listInput,
    result: typeOnly<FileList>(),
    about: "sandbox",
    repeatable: true,
    activity: "none",
    lane: "heavy",
    cli: "workspace file list",
    mcp: { tool: "workspace_file_list", profile: "core", reach: "workspace" },
  },
  readWorkspaceFile: {
    kind: "call",
    input: readInput,
    result: typeOnly<FileContent>(),
    about: "sandbox",
    repeatable: true,
    activity: "none",
    lane: "light",
    cli: "workspace file read",
    mcp: { tool: "workspace_file_read", profile: "core", reach: "workspace" },
  },
  writeWorkspaceFile: {
    kind: "call",
    input: ({ z, workspaceId, path, longText }) =>
      z.strictObject({
        workspace_id: workspaceId,
        path,
        text: longText,
        /** What `text` is: the content itself, unless it says base64. */
        encoding: z.enum(FILE_ENCODINGS).optional(),
        mode: z.number().int().min(0).max(0o777).optional(),
      }),
    result: typeOnly<FileWritten>(),
    about: "sandbox",
    repeatable: true,
    activity: "done",
    lane: "light",
    cli: "workspace file write",
    mcp: { tool: "workspace_file_write", profile: "core", reach: "workspace" },
  },
  applyWorkspacePatch: {
    kind: "call",
    input: ({ z, workspaceId, longText }) => z.strictObject({ workspace_id: workspaceId, patch: longText.min(1) }),
    result: typeOnly<PatchApplied>(),
    about: "sandbox",
    repeatable: false,
    activity: "done",
    lane: "heavy",
    cli: "workspace patch apply",
    mcp: { tool: "workspace_patch_apply", profile: "core", reach: "workspace" },
  },
  pushWorkspaceSync: {
    kind: "call",
    input: ({ z, workspaceId, path, ReadScope, includeFields }) =>
      z.strictObject({
        workspace_id: workspaceId,
        source_path: path,
        ...includeFields,
        read_scope: ReadScope.optional(),
        dest: path.optional(),
        placement: z.enum(PLACEMENTS).optional(),
      }),
    result: typeOnly<SyncPushed>(),
    about: "sandbox",
    repeatable: false,
    activity: "done",
    lane: "moving",
    cli: "workspace sync push",
    mcp: { tool: "workspace_sync_push", profile: "core", reach: "decided" },
  },
  diffWorkspace: {
    kind: "call",
    input: ({ z, workspaceId, path, name }) =>
      z.strictObject({
        workspace_id: workspaceId,
        /** Files or folders; always looked at, also where the project ignores them. */
        path: z.union([path, z.array(path).min(1).max(100)]).optional(),
        /** A snapshot, or `fork` for the state that a fork began with. */
        since: name.optional(),
        /** Also what the project's ignore rules cover. */
        include_ignored: z.boolean().optional(),
      }),
    result: typeOnly<Diff>(),
    about: "sandbox",
    repeatable: true,
    activity: "none",
    lane: "heavy",
    cli: "workspace diff",
    mcp: { tool: "workspace_diff", profile: "core", reach: "workspace" },
  },
  exportWorkspace: {
    kind: "call",
    input: ({ z, workspaceId, path, cautious }) =>
      z.strictObject({
        workspace_id: workspaceId,
        path,
        output_path: path,
        links: z.enum(LINK_POLICIES).optional(),
        /** A file takes the place of a file, and a folder that of an empty one. */
        overwrite: z.boolean().optional(),
        cautious,
      }),
    result: typeOnly<Exported>(),
    about: "sandbox",
    repeatable: false,
    activity: "done",
    lane: "moving",
    cli: "workspace export",
    mcp: { tool: "workspace_export", profile: "core", reach: "decided" },
  },
  // Of a stopped workspace
  listWorkspaceDisk: {
    kind: "call",
    input: listInput,
    result: typeOnly<FileList>(),
    about: "sandbox",
    repeatable: true,
    activity: "none",
    lane: "heavy",
    cli: "workspace disk list",
    mcp: { tool: "workspace_disk_list", profile: "full", reach: "workspace" },
  },
  readWorkspaceDisk: {
    kind: "call",
    input: readInput,
    result: typeOnly<FileContent>(),
    about: "sandbox",
    repeatable: true,
    activity: "none",
    lane: "heavy",
    cli: "workspace disk read",
    mcp: { tool: "workspace_disk_read", profile: "full", reach: "workspace" },
  },
  exportWorkspaceDisk: {
    kind: "call",
    input: ({ z, workspaceId, path, cautious }) =>
      z.strictObject({
        workspace_id: workspaceId,
        output_path: path,
        cautious,
        format: z.enum(["tar", "ext4"]).optional(),
      }),
    result: typeOnly<DiskExported>(),
    about: "sandbox",
    repeatable: false,
    activity: "none",
    lane: "moving",
    cli: "workspace disk export",
    mcp: { tool: "workspace_disk_export", profile: "full", reach: "decided" },
  },
} as const satisfies Record<string, Operation>;
