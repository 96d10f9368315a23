import { within } from "../base/deadline.ts";
import type { StoredWorkspace } from "../contracts/store.ts";
import { failure } from "../model/error-codes.ts";
import type { Dependencies } from "./dependencies.ts";
import type { LiveWorkspace } from "./live-workspace.ts";

/** A sandbox that takes longer is not waited for. */
const PATIENCE_MS = 3000;

/**
 * Whether anything in it would be lost with the workspace: what was written to `/workspace` since its creation, `.git` among it, or a snapshot. One look at the
 * top of the writable layer, however much is in it. Where that cannot be told, it is so.
 */
export async function hasChanges(
  { store }: Pick<Dependencies, "store">,
  { workspaceId, layers, unchanged }: Pick<StoredWorkspace, "workspaceId" | "layers" | "unchanged">,
  live: Pick<LiveWorkspace, "files"> | undefined,
): Promise<boolean> {
  if (layers.length > 0 || store.listSnapshots(workspaceId).length > 0) return true;
  if (!live) return !unchanged;
  const look = async () => (await (await live.files()).list("upper", "", { maxEntries: 1 })).length > 0;
  try {
    return await within(PATIENCE_MS, look(), () => failure("SANDBOX_LOST", "The guest program does not answer"));
  } catch {
    // More than one entry is an error of the list too.
    return true;
  }
}
