import { WORKSPACE_ROOT } from "../model/names.ts";
import type { Exported, FileContent, FileEntry, FileList, FileWritten } from "../model/files.ts";
import type { OperationInput } from "../model/operations.ts";
import { failure } from "../model/error-codes.ts";
import { toWorkspaceAbsolute, toWorkspaceRelative } from "../policy/workspace-path.ts";
import { writeExport } from "./export-writer.ts";
import type { LiveWorkspace } from "./live-workspace.ts";

const DEFAULT_READ_BYTES = 65_536;
/** More entries than that in one answer help nobody. */
const MAX_LISTED = 100_000;

export async function listFiles(
  live: LiveWorkspace,
  { path, recursive = false }: OperationInput<"listWorkspaceFiles">,
): Promise<FileList> {
  const relative = toWorkspaceRelative(path ?? WORKSPACE_ROOT);
  const files = await live.files();
  const found = await files.list("workspace", relative, { recursive, maxEntries: MAX_LISTED });
  const entries = found.flatMap((entry): FileEntry[] => {
    if (entry.type === "other") return []; // sockets, pipes and devices are no artifacts
    return [
      {
        path: toWorkspaceAbsolute(relative === "" ? entry.path : `${relative}/${entry.path}`),
        artifact_type: entry.type,
        size_bytes: entry.type === "directory" ? 0 : entry.size,
        link_target: entry.type === "symlink" ? entry.linkTarget : null,
      },
    ];
  });
  return { workspace_id: live.workspaceId, path: toWorkspaceAbsolute(relative), recursive, entries };
}

export async function readFile(live: LiveWorkspace, input: OperationInput<"readWorkspaceFile">): Promise<FileContent> {
  const relative = toWorkspaceRelative(input.path);
  const files = await live.files();
  const { entry, content } = await files.readAll("workspace", relative, {
    maxBytes: input.max_bytes ?? DEFAULT_READ_BYTES,
  });
  return {
    workspace_id: live.workspaceId,
    path: toWorkspaceAbsolute(relative),
    content: content.toString("utf8"),
    size_bytes: entry.size,
    truncated: entry.size > content.length,
  };
}

export async function writeFile(
  live: LiveWorkspace,
  { path, text, mode }: OperationInput<"writeWorkspaceFile">,
): Promise<FileWritten> {
  const relative = toWorkspaceRelative(path);
  if (relative === "") throw failure("FILE_WRONG_TYPE", `Cannot write "${path}": it is a directory`);
  const content = Buffer.from(text, "utf8");
  const files = await live.files();
  await files.write("workspace", relative, content, mode === undefined ? {} : { mode });
  return { workspace_id: live.workspaceId, path: toWorkspaceAbsolute(relative), bytes_written: content.length };
}

export async function exportPath(
  live: LiveWorkspace,
  { path, output_path: outputPath }: OperationInput<"exportWorkspace">,
  signal: AbortSignal | undefined,
): Promise<Exported> {
  const relative = toWorkspaceRelative(path);
  const files = await live.files();
  if ((await files.stat("workspace", relative, { shownPath: path })).type === "other") {
    throw failure("FILE_WRONG_TYPE", `Cannot export "${path}": it is no file, folder or link`);
  }
  const { artifactType } = await writeExport(
    files.treeOut("workspace", relative),
    outputPath,
    signal ? { signal } : {},
  );
  return {
    workspace_id: live.workspaceId,
    workspace_path: toWorkspaceAbsolute(relative),
    output_path: outputPath,
    artifact_type: artifactType,
  };
}
