export interface Snapshot {
  snapshot_name: string;
  kind: "named" | "baseline";
  /** With the running machine and its processes. */
  live: boolean;
  created_at: number;
  size_bytes: number;
}

export interface SnapshotMade {
  workspace_id: string;
  snapshot: Snapshot;
}

export interface SnapshotList {
  workspace_id: string;
  count: number;
  snapshots: Snapshot[];
}

export interface SnapshotDeleted {
  workspace_id: string;
  snapshot_name: string;
  deleted: true;
}

export interface WorkspaceReset {
  workspace_id: string;
  reset_count: number;
  workspace_reset: { snapshot_name: string };
}
