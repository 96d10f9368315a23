import type { StoredSnapshot, StoredWorkspace } from "../contracts/store.ts";
import { failure } from "../model/error-codes.ts";
import { argument, way } from "../model/hint.ts";
import type { Snapshot, SnapshotDeleted, SnapshotList, SnapshotMade } from "../model/snapshot.ts";
import type { Dependencies } from "./dependencies.ts";
import { isLive } from "./layers.ts";
import { notRunning } from "./not-running.ts";
import { getBackend, sandboxDirectory } from "./sandbox.ts";
import { readSession } from "./session.ts";

/** The first state of every workspace; it cannot be changed. */
export const BASELINE = "baseline";

/**
 * Saves what a workspace is now under a name. What runs in it goes on; a file that is being written is saved as it was found. With `live`, the running machine is
 * saved with its processes, of one moment.
 */
export async function createSnapshot(
  deps: Dependencies,
  stored: StoredWorkspace,
  { name, live = false }: { name: string; live?: boolean | undefined },
  signal?: AbortSignal,
): Promise<SnapshotMade> {
  const { workspaceId } = stored;
  const save = live ? machineSaver(deps, stored) : undefined;
  if (name === BASELINE || deps.store.findSnapshot(workspaceId, name)) {
    throw failure("SNAPSHOT_EXISTS", `Workspace ${workspaceId} has a snapshot "${name}"`, {
      ...(name === BASELINE && { hint: "Choose another name: baseline is the workspace's first state" }),
    });
  }
  const session = save ? readSession(deps, workspaceId) : null;
  const keep = (layers: string[], sizeBytes: number): StoredSnapshot => {
    const made: StoredSnapshot = { snapshotName: name, createdAt: deps.clock.now(), sizeBytes, layers, session };
    deps.store.transaction(() => {
      deps.store.insertSnapshot(workspaceId, made);
      const told = { snapshot_name: name, live: isLive(layers), size_bytes: sizeBytes };
      deps.events.record({ kind: "snapshot.created", workspace_id: workspaceId, ...told });
    });
    return made;
  };
  const source = { directory: sandboxDirectory(deps.home, stored), layers: stored.layers };
  const snapshot = save
    ? await deps.layers.addMachine(stored.layers, save, keep)
    : await deps.layers.add(getBackend(deps, stored.backend), source, keep, signal);
  return { workspace_id: workspaceId, snapshot: presentSnapshot(snapshot) };
}

/** How the running machine of a workspace is saved; refuses, before anything is touched, where there is none or it cannot be. */
function machineSaver(deps: Dependencies, stored: StoredWorkspace): (target: string) => Promise<number> {
  const backend = getBackend(deps, stored.backend);
  const { wall, state } = stored;
  if (!backend.capabilities.liveSnapshots || !backend.saveMachine) {
    throw failure("NOT_SUPPORTED", `Backend "${backend.name}" cannot save running processes`, {
      hint: [way`Leave out ${argument("live")} to save the files`, way`create the workspace on the backend vm`],
    });
  }
  if (state !== "started" || !wall) throw notRunning(stored);
  const save = backend.saveMachine.bind(backend);
  return (target) => save(sandboxDirectory(deps.home, stored), wall, target);
}

export function listSnapshots(deps: Dependencies, { workspaceId, createdAt }: StoredWorkspace): SnapshotList {
  const baseline: Snapshot = {
    snapshot_name: BASELINE,
    kind: "baseline",
    live: false,
    created_at: createdAt,
    size_bytes: 0,
  };
  const snapshots = [baseline, ...deps.store.listSnapshots(workspaceId).map(presentSnapshot)];
  return { workspace_id: workspaceId, count: snapshots.length, snapshots };
}

/** Its layer goes when nobody else stands on it. */
export async function deleteSnapshot(
  deps: Dependencies,
  { workspaceId }: StoredWorkspace,
  name: string,
): Promise<SnapshotDeleted> {
  if (name === BASELINE)
    throw failure("INVALID_ARGUMENT", "The baseline cannot be deleted", { hint: "Delete the workspace instead" });
  deps.store.transaction(() => {
    if (!deps.store.deleteSnapshot(workspaceId, name)) throw noSnapshot(workspaceId, name);
    deps.events.record({ kind: "snapshot.deleted", workspace_id: workspaceId, snapshot_name: name });
  });
  await deps.layers.prune();
  return { workspace_id: workspaceId, snapshot_name: name, deleted: true };
}

/** What a workspace goes back to: the layers over the baseline, and what ran. */
export function findSnapshot(
  deps: Dependencies,
  { workspaceId, baseLayers }: Pick<StoredWorkspace, "workspaceId" | "baseLayers">,
  name: string,
): Pick<StoredSnapshot, "layers" | "session"> {
  if (name === BASELINE) return { layers: baseLayers, session: null };
  const snapshot = deps.store.findSnapshot(workspaceId, name);
  if (!snapshot) throw noSnapshot(workspaceId, name);
  return snapshot;
}

const noSnapshot = (workspaceId: string, name: string) =>
  failure("SNAPSHOT_NOT_FOUND", `Workspace ${workspaceId} has no snapshot "${name}"`);

export const presentSnapshot = ({ snapshotName, createdAt, sizeBytes, layers }: StoredSnapshot): Snapshot => ({
  snapshot_name: snapshotName,
  kind: "named",
  live: isLive(layers),
  created_at: createdAt,
  size_bytes: sizeBytes,
});
