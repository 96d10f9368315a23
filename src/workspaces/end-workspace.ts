import { isClocheError, messageOf } from "../base/errors.ts";
import type { StoredWorkspace } from "../contracts/store.ts";
import type { EventOf } from "../model/event.ts";
import type { Dependencies } from "./dependencies.ts";
import { moveDoors } from "./doors.ts";
import { isVisible } from "./present.ts";
import type { RunningWorkspaces } from "./running-workspaces.ts";
import { haltSandbox, removeSandboxes, requireRemovable } from "./sandbox.ts";

/** Ends all that runs of a workspace, whose record says already that it does not run; its files stay. */
export async function haltWorkspace(
  deps: Dependencies,
  running: RunningWorkspaces,
  stored: StoredWorkspace,
  reason: string,
): Promise<void> {
  const { workspaceId } = stored;
  await running.letGo(workspaceId, reason);
  await haltSandbox(deps, stored); // also one that does not answer
  await running.endSession(workspaceId, "stopped");
  await moveDoors(deps, stored, undefined);
  deps.store.updateWorkspace(workspaceId, { wall: null });
}

/** Removes a workspace with all that it was made of. What cannot be removed is shown as failed, and can be deleted again. */
export async function removeWorkspace(
  deps: Dependencies,
  running: RunningWorkspaces,
  stored: StoredWorkspace,
  because: EventOf<"workspace.deleted">["because"],
): Promise<void> {
  const { workspaceId, name, labels } = stored;
  if (isVisible(stored)) await requireRemovable(deps, stored);
  const { store, events } = deps;
  try {
    store.transaction(() => {
      // For the next daemon, should this one die before it is done.
      store.updateWorkspace(workspaceId, { state: "deleting", stateReason: because });
      if (because !== "expired" || stored.expired || !isVisible(stored)) return;
      const { ttlSeconds: ttl_seconds } = stored;
      events.record({ kind: "workspace.expired", workspace_id: workspaceId, ttl_seconds, deletes_at: null });
    });
  } catch (error) {
    // What is deleted may be what fills the disk: its files go first then, its record when there is room again.
    if (!isClocheError(error) || error.code !== "DISK_FULL") throw error;
  }
  await running.letGo(workspaceId, "the workspace was deleted", { discard: true });
  running.forgetSecrets(workspaceId);
  deps.tokens.forget(workspaceId);
  try {
    await removeSandboxes(deps, stored);
  } catch (error) {
    // Shown again, so that it can be deleted again.
    const reason = `it could not be removed: ${messageOf(error)}`;
    store.transaction(() => {
      store.updateWorkspace(workspaceId, { state: "failed", stateReason: reason, expired: null });
      events.record({ kind: "workspace.failed", workspace_id: workspaceId, reason });
    });
    throw error;
  }
  store.transaction(() => {
    store.deleteWorkspace(workspaceId);
    // One that never came to be was told of to nobody.
    if (stored.state === "creating") return;
    events.record({ kind: "workspace.deleted", workspace_id: workspaceId, name, labels, because });
  });
  events.forget(workspaceId);
  await deps.layers.prune();
  deps.workChanged();
}
