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

export interface EnvironmentsPruned {
  removed: { name: string; size_bytes: number }[];
  freed_bytes: number;
}
