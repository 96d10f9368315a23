import { join } from "node:path";
import { ClocheError } from "../base/errors.ts";
import type { GuestFiles } from "../guest/files.ts";
import { failure } from "../model/error-codes.ts";
import type { SyncPushed } from "../model/files.ts";
import type { OperationInput } from "../model/operations.ts";
import type { ReportProgress } from "../model/progress.ts";
import { toWorkspaceAbsolute, toWorkspaceRelative } from "../policy/workspace-path.ts";
import type { Dependencies } from "./dependencies.ts";
import { HostTree } from "./host-tree.ts";
import type { LiveWorkspace } from "./live-workspace.ts";
import { roomFor, withinRoom } from "./room.ts";

export interface PushContext {
  readonly signal?: AbortSignal | undefined;
  readonly progress?: ReportProgress | undefined;
}

/**
 * Brings a later folder or archive of the host in, by the rules of a seed: it becomes a checked tree in the cache first, and that goes in as a
 * whole or not at all. Files are replaced, what else is there stays.
 */
export async function pushSync(
  deps: Pick<Dependencies, "home" | "seeds" | "events">,
  live: Pick<LiveWorkspace, "workspaceId" | "files" | "secrets">,
  { source_path: sourcePath, read_scope: scope, dest }: OperationInput<"pushWorkspaceSync">,
  context: PushContext,
): Promise<SyncPushed> {
  const relative = toWorkspaceRelative(dest ?? "");
  const files = await live.files();
  if (relative !== "") await checkDestination(files, relative, dest ?? relative);
  const { tree, seed } = await deps.seeds.import(sourcePath, { ...context, scope });
  // The history of a git project stays home: it would run into the one that is there.
  const source = new HostTree(tree, { skipTop: seed.mode === "directory" ? ".git" : undefined });
  context.signal?.throwIfAborted();
  // SECURITY: on this way a hole is bytes and each name a file of its own: no more than there is room for (G-15)
  const items = withinRoom(source.items(), roomFor(join(deps.home, "workspaces")), "push");
  await files.treeIn("workspace", relative, items, {
    shownPath: toWorkspaceAbsolute(relative),
    signal: context.signal,
  });
  const pushed = { source_path: sourcePath, dest: toWorkspaceAbsolute(relative), files: source.count };
  deps.events.record({ kind: "sync.pushed", workspace_id: live.workspaceId, ...pushed });
  return { workspace_id: live.workspaceId, ...pushed };
}

async function checkDestination(files: GuestFiles, relative: string, shownPath: string): Promise<void> {
  try {
    const { type } = await files.stat("workspace", relative, { shownPath });
    if (type === "directory") return;
    const what = type === "other" ? "no folder" : `a ${type}`;
    throw failure("FILE_WRONG_TYPE", `Cannot push to "${shownPath}": it is ${what}`);
  } catch (error) {
    if (error instanceof ClocheError && error.code === "FILE_NOT_FOUND") return;
    throw error;
  }
}
