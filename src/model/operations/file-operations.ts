import { z } from "zod";
import { LINK_POLICIES } from "../files.ts";
import { ReadScope } from "../read-scope.ts";
import { path, workspaceId } from "./fields.ts";

const MAX_TEXT = 16_777_216;
const maxBytes = z.number().int().min(1).max(268_435_456).optional();
const list = z.strictObject({ workspace_id: workspaceId, path: path.optional(), recursive: z.boolean().optional() });
/** For a caller that is trusted with one folder: refused where a link is on the way to the output, and nothing of git comes along. */
const cautious = z.boolean().optional();
const read = z.strictObject({
  workspace_id: workspaceId,
  path,
  offset: z.number().int().min(0).optional(),
  max_bytes: maxBytes,
});

export const fileOperations = {
  listWorkspaceFiles: list,
  readWorkspaceFile: read,
  writeWorkspaceFile: z.strictObject({
    workspace_id: workspaceId,
    path,
    text: z.string().max(MAX_TEXT),
    mode: z.number().int().min(0).max(0o777).optional(),
  }),
  applyWorkspacePatch: z.strictObject({ workspace_id: workspaceId, patch: z.string().min(1).max(MAX_TEXT) }),
  diffWorkspace: z.strictObject({ workspace_id: workspaceId }),
  exportWorkspace: z.strictObject({
    workspace_id: workspaceId,
    path,
    output_path: path,
    links: z.enum(LINK_POLICIES).optional(),
    cautious,
  }),
  pushWorkspaceSync: z.strictObject({
    workspace_id: workspaceId,
    source_path: path,
    read_scope: ReadScope.optional(),
    dest: path.optional(),
  }),
  // Of a stopped workspace
  listWorkspaceDisk: list,
  readWorkspaceDisk: read,
  exportWorkspaceDisk: z.strictObject({
    workspace_id: workspaceId,
    output_path: path,
    cautious,
    format: z.enum(["tar", "ext4"]).optional(),
  }),
};
