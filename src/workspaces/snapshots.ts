import type { StoredSnapshot, StoredWorkspace } from "../contracts/store.ts";
import { failure } from "../model/error-codes.ts";
import type { Snapshot, SnapshotDeleted, SnapshotList, SnapshotMade } from "../model/snapshot.ts";
import type { Dependencies } from "./dependencies.ts";
import { getBackend, sandboxDirectory } from "./sandbox.ts";

/** The first state of every workspace; it cannot be changed. */
export const BASELINE = "baseline";

/** Saves what a workspace is now under a name. What runs in it goes on; a file that is being written is saved as it was found. */
export async function createSnapshot(
  deps: Dependencies,
  stored: StoredWorkspace,
  name: string,
  signal?: AbortSignal,
): Promise<SnapshotMade> {
  const { workspaceId } = stored;
  if (name === BASELINE || deps.store.findSnapshot(workspaceId, name)) {
    throw failure("SNAPSHOT_EXISTS", `Workspace ${workspaceId} has a snapshot "${name}"`, {
      ...(name === BASELINE && { hint: "Choose another name: baseline is the workspace's first state" }),
    });
  }
  const source = { directory: sandboxDirectory(deps.home, stored), layers: stored.layers };
  const snapshot = await deps.layers.add(
    getBackend(deps, stored.backend),
    source,
    (layers, sizeBytes) => {
      const made: StoredSnapshot = { snapshotName: name, createdAt: deps.clock.now(), sizeBytes, layers };
      deps.store.insertSnapshot(workspaceId, made);
      return made;
    },
    signal,
  );
  deps.store.insertEvent(workspaceId, { kind: "snapshot_create", at: snapshot.createdAt, snapshot_name: name });
  return { workspace_id: workspaceId, snapshot: presentSnapshot(snapshot) };
}

export function listSnapshots(deps: Dependencies, { workspaceId, createdAt }: StoredWorkspace): SnapshotList {
  const baseline: Snapshot = { snapshot_name: BASELINE, kind: "baseline", created_at: createdAt, size_bytes: 0 };
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
  if (!deps.store.deleteSnapshot(workspaceId, name)) throw noSnapshot(workspaceId, name);
  deps.store.insertEvent(workspaceId, { kind: "snapshot_delete", at: deps.clock.now(), snapshot_name: name });
  await deps.layers.prune();
  return { workspace_id: workspaceId, snapshot_name: name, deleted: true };
}

/** The layers of a snapshot, over the baseline. */
export function layersOf(deps: Dependencies, workspaceId: string, name: string): string[] {
  if (name === BASELINE) return [];
  const snapshot = deps.store.findSnapshot(workspaceId, name);
  if (!snapshot) throw noSnapshot(workspaceId, name);
  return snapshot.layers;
}

const noSnapshot = (workspaceId: string, name: string) =>
  failure("SNAPSHOT_NOT_FOUND", `Workspace ${workspaceId} has no snapshot "${name}"`);

const presentSnapshot = ({ snapshotName, createdAt, sizeBytes }: StoredSnapshot): Snapshot => ({
  snapshot_name: snapshotName,
  kind: "named",
  created_at: createdAt,
  size_bytes: sizeBytes,
});
