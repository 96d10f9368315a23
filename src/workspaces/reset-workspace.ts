import type { StoredWorkspace } from "../contracts/store.ts";
import { NO_MODEL_USAGE } from "../model/model-usage.ts";
import type { Dependencies } from "./dependencies.ts";
import type { LiveWorkspace } from "./live-workspace.ts";
import { type SandboxContext, removeSandboxes, startSandbox } from "./sandbox.ts";
import { writeSession } from "./session.ts";
import { findSnapshot } from "./snapshots.ts";

/** What the next sandbox has beside the files of a snapshot. */
export interface NextSandbox {
  /** In the place of the one that the workspace has. */
  readonly environment?: string | undefined;
  /** Done to it before it takes the place of the old one. When it fails nothing has changed. */
  readonly prepare?: ((live: LiveWorkspace) => Promise<void>) | undefined;
}

/**
 * A new sandbox for a workspace, on the layers of a snapshot. It runs before the old one is let go: when it cannot be started, nothing has changed. `letGo`
 * takes the old one from its callers at once, and ends it.
 */
export async function resetWorkspace(
  deps: Dependencies,
  stored: StoredWorkspace,
  snapshotName: string,
  context: SandboxContext & NextSandbox & { letGo(): Promise<void> },
): Promise<LiveWorkspace> {
  const { layers, session } = findSnapshot(deps, stored, snapshotName);
  const { environment = stored.environment } = context;
  const next: StoredWorkspace = { ...stored, layers, environment, generation: stored.generation + 1 };
  let live: LiveWorkspace | undefined;
  try {
    live = await startSandbox(deps, next, context);
    await context.prepare?.(live);
  } catch (error) {
    await live?.close("it could not be prepared", { discard: true });
    await removeSandboxes(deps, next, stored.generation);
    throw error;
  }
  deps.journal.flush(); // what the old one still had to say
  const gone = context.letGo();
  const now = deps.clock.now();
  const { record: wall } = live.wall;
  deps.store.transaction(() => {
    deps.store.resetWorkspace(stored.workspaceId, {
      environment,
      layers: next.layers,
      generation: next.generation,
      wall,
      state: "started",
      stateReason: null,
      expired: null,
      unchanged: false,
      resetCount: stored.resetCount + 1,
      sessionStartedAt: now,
      modelUsage: { ...stored.modelUsage, session: NO_MODEL_USAGE },
      lastActivityAt: now,
    });
    if (session) writeSession(deps.store, stored.workspaceId, session);
    const told = { snapshot_name: snapshotName, reset_count: stored.resetCount + 1 };
    deps.events.record({ kind: "workspace.reset", workspace_id: stored.workspaceId, ...told });
  });
  await gone;
  await removeSandboxes(deps, next, next.generation);
  return live;
}
