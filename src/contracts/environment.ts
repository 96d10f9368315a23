import type { ClocheError } from "../base/errors.ts";
import type { Environment, EnvironmentDetail, KeptItem, RemovedItem } from "../model/environment.ts";
import type { ReportProgress } from "../model/progress.ts";

/**
 * A root file system, ready on this host's disk. `root` holds the folders that a wall mounts on (`/workspace /proc /dev /tmp /run
 * /home/agent`) and the user `agent` in `/etc/passwd`. Files are owned as `IdMap` says.
 */
export interface Rootfs {
  readonly name: string;
  /** Of the content, in hex. Backends keep what they make of an environment under this name. */
  readonly digest: string;
  readonly root: string;
  /** Further folders of the host that show at the same path, read-only (`host` has `/usr`). */
  readonly hostPaths: readonly string[];
  /** Places below these that must not show, by real path; nothing need be there. Found anew at each use. */
  readonly coveredPaths: readonly string[];
  /** A packed machine that takes the place of `root`, for backends that declare `machineFiles`. */
  readonly machineFile?: string | undefined;
}

export interface Environments {
  list(): Promise<Environment[]>;
  /** Throws ENVIRONMENT_NOT_FOUND for a name there is no definition of. Builds when it is not warm; safe at once from many processes. */
  ensure(
    name: string,
    options: {
      progress?: ReportProgress | undefined;
      signal?: AbortSignal | undefined;
      /** Whether steps of others may use the network while they build it. */
      network?: boolean | undefined;
    },
  ): Promise<Rootfs>;
  inspect(name: string): Promise<EnvironmentDetail>;
  /** Why an environment that is not built could not be built now; undefined when no reason is known. */
  obstacle(name: string): Promise<ClocheError | undefined>;
  /** Of all that is built, older builds too. */
  digests(): Promise<Set<string>>;
  /** Removes built environments that nobody uses. An unknown name is refused before anything is removed. */
  prune(request: PruneRequest): Promise<PrunedEnvironments>;
}

export interface PruneRequest {
  /** Names of environments that workspaces of this home are made of. */
  readonly inUse: ReadonlySet<string>;
  /** All of them when not given. */
  readonly names?: readonly string[] | undefined;
  /** Everything stays, and what would have gone is told. */
  readonly dryRun: boolean;
  readonly progress?: ReportProgress | undefined;
}

export interface PrunedEnvironments {
  readonly removed: readonly (RemovedItem & { readonly digest: string })[];
  readonly kept: readonly KeptItem[];
}
