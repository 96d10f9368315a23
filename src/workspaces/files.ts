import { basename, join } from "node:path";
import type { GuestEntry } from "../guest/files.ts";
import { failure } from "../model/error-codes.ts";
import type { Exported, FileContent, FileEntry, FileList, FileWritten } from "../model/files.ts";
import { WORKSPACE_ROOT } from "../model/names.ts";
import type { OperationInput } from "../model/operations.ts";
import { toWorkspaceAbsolute, toWorkspaceRelative } from "../policy/workspace-path.ts";
import type { Dependencies } from "./dependencies.ts";
import { decodeContent, encodeContent } from "./file-encoding.ts";
import { writeExport } from "./export-writer.ts";
import type { LiveWorkspace } from "./live-workspace.ts";
import { inOutputFolder } from "./output-folder.ts";
import { roomFor, withinRoom } from "./room.ts";
import { withoutGit } from "./without-git.ts";
import { refuseRepositories } from "./hidden-repository.ts";
import { redactedRange } from "./shells/redacted-range.ts";

const DEFAULT_READ_BYTES = 65_536;
/** In one answer, whatever was asked for. */
const MAX_READ_BYTES = 4 * 1024 * 1024;
/** More entries than that in one answer help nobody. */
const MAX_LISTED = 100_000;

export async function listFiles(
  live: LiveWorkspace,
  { path, recursive = false }: OperationInput<"listWorkspaceFiles">,
): Promise<FileList> {
  const relative = toWorkspaceRelative(path ?? WORKSPACE_ROOT);
  const files = await live.files();
  const found = await files.list("workspace", relative, { recursive, maxEntries: MAX_LISTED, shownPath: path });
  const entries = found.flatMap((entry) => presentEntry(live, relative, entry));
  return { workspace_id: live.workspaceId, path: toWorkspaceAbsolute(relative), recursive, entries };
}

function presentEntry(live: LiveWorkspace, folder: string, entry: GuestEntry): FileEntry[] {
  if (entry.type === "other") return []; // sockets, pipes and devices are no artifacts
  const { redactor } = live.secrets;
  return [
    {
      path: redactor.text(toWorkspaceAbsolute(folder === "" ? entry.path : `${folder}/${entry.path}`)),
      artifact_type: entry.type,
      size_bytes: entry.type === "directory" ? 0 : entry.size,
      link_target: entry.type === "symlink" ? redactor.text(entry.linkTarget ?? "") : null,
    },
  ];
}

export async function readFile(live: LiveWorkspace, input: OperationInput<"readWorkspaceFile">): Promise<FileContent> {
  const relative = toWorkspaceRelative(input.path);
  const { redactor } = live.secrets;
  const { offset = 0 } = input;
  // SECURITY: a caller that wants more asks again from where this ended (G-25)
  const maxBytes = Math.min(input.max_bytes ?? DEFAULT_READ_BYTES, MAX_READ_BYTES);
  const files = await live.files();
  // A value that a cut goes through is found with what is before and after it.
  const before = Math.min(offset, redactor.reach);
  const { entry, content } = await files.readAll("workspace", relative, {
    offset: offset - before,
    maxBytes: before + maxBytes + redactor.reach,
    shownPath: input.path,
  });
  const truncated = offset + maxBytes < entry.size;
  // A character that the cut went through is left to the next read, which gets it whole.
  const whole = input.encoding === "base64" ? maxBytes : wholeCharacters(content.subarray(before, before + maxBytes));
  const end = truncated ? before + whole : content.length;
  const bytes = redactedRange(content, redactor.find(content), before, end);
  return {
    workspace_id: live.workspaceId,
    path: toWorkspaceAbsolute(relative),
    ...encodeContent(bytes, input.encoding, input.path),
    size_bytes: entry.size,
    truncated,
    offset,
    next_offset: truncated ? offset + end - before : null,
  };
}

/** How many bytes from the start are whole characters. All of them, when the last ones are no text or there is no other character. */
function wholeCharacters(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(4, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return back < length && back < bytes.length ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}

export async function writeFile(
  deps: Dependencies,
  live: LiveWorkspace,
  { path, text, encoding, mode }: OperationInput<"writeWorkspaceFile">,
): Promise<FileWritten> {
  const relative = toWorkspaceRelative(path);
  if (relative === "") throw failure("FILE_WRONG_TYPE", `Cannot write "${path}": it is a directory`);
  const content = decodeContent(text, encoding, path);
  const files = await live.files();
  await files.write("workspace", relative, content, { shownPath: path, ...(mode !== undefined && { mode }) });
  const written = { path: toWorkspaceAbsolute(relative), bytes_written: content.length };
  deps.events.record({ kind: "file.written", workspace_id: live.workspaceId, ...written });
  return { workspace_id: live.workspaceId, ...written };
}

/** What is exported is as it is in the sandbox, a secret that a command wrote there included. */
export async function exportPath(
  deps: Dependencies,
  live: LiveWorkspace,
  { path, output_path: outputPath, links, overwrite, cautious }: OperationInput<"exportWorkspace">,
  signal: AbortSignal | undefined,
): Promise<Exported> {
  const relative = toWorkspaceRelative(path);
  // SECURITY: a `.git` by another name is one all the same (G-23)
  if (cautious && relative.toLowerCase().split("/").includes(".git")) {
    throw failure("HOST_ACCESS_REFUSED", `Cannot export "${path}": it is git's own`, {
      hint: "Export the files beside it",
    });
  }
  const files = await live.files();
  if ((await files.stat("workspace", relative, { shownPath: path })).type === "other") {
    throw failure("FILE_WRONG_TYPE", `Cannot export "${path}": it is no file, folder or link`);
  }
  const { artifactType, skippedLinks } = await inOutputFolder(outputPath, cautious, async (folder) => {
    const room = roomFor(join(folder, basename(outputPath)));
    const out = files.treeOut("workspace", relative, { shownPath: path, signal });
    const items = withinRoom(cautious ? refuseRepositories(withoutGit(out)) : out, room);
    return await deps.scratch.beside(outputPath, (scratch) =>
      writeExport(items, outputPath, { scratch, folder, links, overwrite, ...(signal && { signal }) }),
    );
  });
  const exported = {
    workspace_path: toWorkspaceAbsolute(relative),
    output_path: outputPath,
    artifact_type: artifactType,
  };
  deps.events.record({ kind: "export.made", workspace_id: live.workspaceId, ...exported });
  return { workspace_id: live.workspaceId, ...exported, skipped_links: skippedLinks };
}
