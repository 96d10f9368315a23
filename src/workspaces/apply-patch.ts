import { createTreeItem, type GuestFiles, type TreeChange } from "../guest/files.ts";
import { failure } from "../model/error-codes.ts";
import { call, way } from "../model/hint.ts";
import type { PatchApplied } from "../model/files.ts";
import type { OperationInput } from "../model/operations.ts";
import { fromByteText, quoted, type ByteText } from "../policy/byte-text.ts";
import { parsePatch } from "../policy/parse-patch.ts";
import { pathsOf, patchTree, type FileState, type PatchedTree } from "../policy/patch-tree.ts";
import { toWorkspaceAbsolute } from "../policy/workspace-path.ts";
import type { Dependencies } from "./dependencies.ts";
import type { LiveWorkspace } from "./live-workspace.ts";
import { foldersAbove, readNamedFiles, type NamedFiles } from "./read-named-files.ts";
import { hasFewLines } from "../policy/has-few-lines.ts";

const PIECE_BYTES = 1024 * 1024;

const MAX_PATCH_LINES = 300_000;
/** In the record of what happened. */
const MAX_RECORDED_FILES = 100;

/**
 * Applies a unified diff: reads the files it names, makes the result in memory, and puts all of it in place in one step of the guest, so that
 * either everything is written or nothing. What a command writes to one of these files between the reading and the writing is lost, as with any
 * editor; nothing else can come apart by it.
 */
export async function applyPatch(
  { events }: Pick<Dependencies, "events">,
  live: Pick<LiveWorkspace, "workspaceId" | "files" | "secrets">,
  { patch }: OperationInput<"applyWorkspacePatch">,
): Promise<PatchApplied> {
  // SECURITY: a line costs far more than its bytes (G-25)
  if (!hasFewLines(patch, MAX_PATCH_LINES)) {
    throw failure("PATCH_INVALID", `Cannot apply the patch: it has more than ${MAX_PATCH_LINES} lines`, {
      hint: [way`Apply it in parts`, way`bring the files in with ${call("pushWorkspaceSync")}`],
    });
  }
  const patches = parsePatch(patch);
  const files = await live.files();
  const named = await readNamedFiles(files, pathsOf(patches));
  const tree = patchTree(patches, named.states);
  checkWay(tree, named);
  if (tree.states.size > 0) {
    const emptied = await foldersToReplace(files, tree, named);
    await files.treeIn("workspace", "", treeChanges(tree.states, emptied), { shownPath: toWorkspaceAbsolute("") });
    await removeEmptied(files, tree.states);
  }
  const patched = tree.files.map(({ path, status, oldPath }) => ({
    path: shown(path),
    status,
    ...(oldPath !== undefined && { old_path: shown(oldPath) }),
  }));
  const changed = patched.length > 0;
  const recorded = patched.slice(0, MAX_RECORDED_FILES).map(({ path, status }) => ({ path, status }));
  const told = { files: recorded, file_count: patched.length };
  if (changed) events.record({ kind: "patch.applied", workspace_id: live.workspaceId, ...told });
  return { workspace_id: live.workspaceId, changed, files: patched };
}

const shown = (path: ByteText): string => toWorkspaceAbsolute(fromByteText(path).toString("utf8"));

/** As git has it: a patch reaches no file through a link, even one that stays inside. */
function checkWay({ states }: PatchedTree, { obstacles }: NamedFiles): void {
  for (const path of states.keys()) {
    for (const folder of foldersAbove(path)) {
      const obstacle = obstacles.get(folder);
      const goes = states.has(folder) && states.get(folder) === undefined;
      if (obstacle === undefined || goes) continue;
      throw failure("FILE_WRONG_TYPE", `Cannot patch ${quoted(path)}: ${quoted(folder)} is ${obstacle}`, {
        hint: "Name the file by its path without links",
      });
    }
  }
}

/** Folders in whose place a file comes; the patch has to remove all that is in them. */
async function foldersToReplace(
  files: GuestFiles,
  { states }: PatchedTree,
  { folders }: NamedFiles,
): Promise<ByteText[]> {
  const replaced = [...folders].filter((path) => states.get(path) !== undefined);
  for (const path of replaced) {
    for (const entry of await files.list("workspace", fromByteText(path), { recursive: true })) {
      const below = `${path}/${entry.pathBytes.toString("latin1")}`;
      if (entry.type === "directory" || (states.has(below) && states.get(below) === undefined)) continue;
      throw failure("FILE_WRONG_TYPE", `Cannot patch ${quoted(path)}: it is a directory`);
    }
  }
  return replaced;
}

/** Removals first, so that a file can come where a folder was and the other way round. */
function* treeChanges(states: PatchedTree["states"], emptied: readonly ByteText[]): Generator<TreeChange> {
  const removed = [...states].flatMap(([path, state]) => (state ? [] : [path]));
  for (const path of [...removed, ...emptied]) {
    const pathBytes = fromByteText(path);
    yield { type: "removal", path: pathBytes.toString("utf8"), pathBytes };
  }
  const mtimeNs = BigInt(Date.now()) * 1_000_000n;
  for (const [path, state] of states) {
    if (!state) continue;
    const { type, mode } = state;
    const entry = { path: fromByteText(path), type, mode, mtimeNs };
    if (type === "symlink") yield createTreeItem({ ...entry, linkTarget: fromByteText(state.content) });
    else yield createTreeItem({ ...entry, size: state.content.length, content: pieces(state) });
  }
}

// eslint-disable-next-line @typescript-eslint/require-await -- the guest's trees are streams
async function* pieces({ content }: FileState): AsyncGenerator<Buffer> {
  for (let at = 0; at < content.length; at += PIECE_BYTES) yield fromByteText(content.slice(at, at + PIECE_BYTES));
}

/**
 * As git does, folders that lost their last file go too. Not a part of the step before it, since only the file system can tell without a race
 * whether a folder is empty.
 */
async function removeEmptied(files: GuestFiles, states: PatchedTree["states"]): Promise<void> {
  const kept = new Set([...states].flatMap(([path, state]) => (state ? [path, ...foldersAbove(path)] : [])));
  const candidates = new Set([...states].flatMap(([path, state]) => (state ? [] : foldersAbove(path))));
  const full = new Set<ByteText>(kept);
  // the innermost first
  for (const folder of [...candidates].sort((one, other) => other.length - one.length)) {
    if (full.has(folder)) continue;
    try {
      await files.remove("workspace", fromByteText(folder));
    } catch {
      // not empty, or gone already: then the ones above it are not empty either, or are tried for others
      for (const above of foldersAbove(folder)) full.add(above);
    }
  }
}
