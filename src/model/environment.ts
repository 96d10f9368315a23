export type EnvironmentState = "cold" | "warm" | "stale";

export interface Environment {
  name: string;
  description: string;
  /** cold: not built yet · warm: ready · stale: built from an older definition. */
  state: EnvironmentState;
  size_bytes: number | null;
  built_at: number | null;
  digest: string | null;
}

export interface EnvironmentList {
  count: number;
  environments: Environment[];
}

export interface EnvironmentDetail extends Environment {
  /** Folders of the host that show through, read-only. */
  host_paths: string[];
  packages: string[];
}

export interface RemovedItem {
  name: string;
  /** What it took on the disk. */
  size_bytes: number;
}

export interface KeptItem {
  name: string;
  /** Why it was not removed. */
  reason: string;
}

export interface EnvironmentsPruned {
  /** Whether everything is still there, and this is what would have gone. */
  dry_run: boolean;
  removed: RemovedItem[];
  /** Environments that stay, of those that were named, or of all that are built. */
  kept: KeptItem[];
  /** What backends had made of environments and seeds, and nobody needs any more. */
  backends: BackendPruned[];
  /** All together. */
  freed_bytes: number;
}

export interface BackendPruned {
  name: string;
  removed: RemovedItem[];
  /** Why it could not clean up; null when it could. */
  problem: string | null;
}
