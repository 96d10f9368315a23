import { basename, dirname } from "node:path";
import { workspacesFolder } from "../base/paths.ts";
import type { OperationInput } from "../model/operations.ts";
import type { SyncPushed } from "../model/files.ts";
import type { ReportProgress } from "../model/progress.ts";
import { toWorkspaceAbsolute } from "../policy/workspace-path.ts";
import type { Dependencies } from "./dependencies.ts";
import { HostTree } from "./host-tree.ts";
import type { LiveWorkspace } from "./live-workspace.ts";
import { checkTarget, lookAtPlace, placeContents, placeCopy } from "./push-place.ts";
import { roomFor } from "./room.ts";
import { statedRules } from "./seed-rules.ts";

export interface PushContext {
  readonly signal?: AbortSignal | undefined;
  readonly progress?: ReportProgress | undefined;
}

/**
 * Brings a later folder, archive or file of the host in, by the rules of a seed: it becomes a checked tree in the cache first, and that goes in as a
 * whole or not at all. Files are replaced, what else is there stays.
 */
export async function pushSync(
  deps: Pick<Dependencies, "home" | "seeds" | "events">,
  live: Pick<LiveWorkspace, "workspaceId" | "files" | "secrets">,
  input: OperationInput<"pushWorkspaceSync">,
  context: PushContext,
): Promise<SyncPushed> {
  const { source_path: sourcePath, read_scope: scope, placement = "contents" } = input;
  const files = await live.files();
  const place = await lookAtPlace(files, input.dest);
  const include = statedRules(input);
  const { tree, kind, leftOut } = await deps.seeds.bring(sourcePath, {
    ...context,
    scope,
    include,
    asItIs: placement === "copy",
  });
  const target = (placement === "copy" ? placeCopy : placeContents)(place, kind, basename(sourcePath));
  await checkTarget(files, target, kind);
  const isSingle = kind === "file" || kind === "symlink";
  // The history of a git project stays home: it would run into the one that is there.
  const source = new HostTree(tree, {
    skipTop: kind === "directory" ? ".git" : undefined,
    topName: isSingle ? basename(target) : undefined,
    room: roomFor(workspacesFolder(deps.home)),
  });
  context.signal?.throwIfAborted();
  const folder = isSingle ? dirname(target).replace(/^\.$/, "") : target;
  const call = { shownPath: toWorkspaceAbsolute(folder), signal: context.signal };
  await files.treeInRecords("workspace", folder, source.records(), call);
  const pushed = { source_path: sourcePath, dest: toWorkspaceAbsolute(target), files: source.count };
  deps.events.record({ kind: "sync.pushed", workspace_id: live.workspaceId, ...pushed });
  return { workspace_id: live.workspaceId, ...pushed, left_out: leftOut };
}
