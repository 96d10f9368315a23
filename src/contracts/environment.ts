import type { ClocheError } from "../base/errors.ts";
import type { Environment, EnvironmentDetail, KeptItem, RemovedItem } from "../model/environment.ts";
import type { ReportProgress } from "../model/progress.ts";
import type { ProgramPackage } from "../model/provider.ts";

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

/** Files that are a program: of this host, where `path` is a folder or the one file, or of a package. */
export type ProgramFiles =
  | { readonly path: string; /** The program, in the folder. */ readonly file: string }
  | { readonly package: ProgramPackage };

/** A program for an environment. */
export interface ProgramSource {
  /** What it is called there. */
  readonly command: string;
  /** Null where nobody knows. */
  readonly version: string | null;
  /** Whether it is what this host has. */
  readonly isOfHost: boolean;
  readonly files: ProgramFiles;
  /** Runs the program's file, where it is no binary. */
  readonly interpreter: { readonly command: string; readonly files: ProgramFiles } | null;
}

/** Where programs that were added to an environment are: of the system's, so that no command changes them where it cannot change the system. */
export const ADDED_PROGRAMS = "/cloche";
export const addedProgram = (command: string): string => `${ADDED_PROGRAMS}/bin/${command}`;

const LAYERED = "agent:";

/** The name of an environment with a program that was added. */
export const layeredEnvironment = (program: string, environment: string): string =>
  `${LAYERED}${program}/${environment}`;

/** The parts of such a name; undefined for any other. */
export function layeredName(name: string): { readonly program: string; readonly environment: string } | undefined {
  const [, program, environment] = /^agent:([^/]+)\/(.+)$/s.exec(name) ?? [];
  return program === undefined || environment === undefined ? undefined : { program, environment };
}

/** The name of an environment that was changed for a run. Its content is that of the archive that was made then, and nothing else. */
export const changedEnvironment = (key: string, environment: string): string => `changed:${key}/${environment}`;

/** The parts of such a name; undefined for any other. */
export function changedName(name: string): { readonly key: string; readonly environment: string } | undefined {
  const [, key, environment] = /^changed:([0-9a-f]+)\/(.+)$/s.exec(name) ?? [];
  return key === undefined || environment === undefined ? undefined : { key, environment };
}

export interface Environments {
  list(): Promise<Environment[]>;
  /** Throws ENVIRONMENT_NOT_FOUND for a name there is no definition of. Makes and builds nothing. */
  requireDefined(name: string): void;
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
  /** The name of the environment with that program at `addedProgram`; of itself where it brings the program. Gets the program when it is not there, once. */
  addProgram(
    name: string,
    program: ProgramSource,
    options: { progress?: ReportProgress | undefined; signal?: AbortSignal | undefined },
  ): Promise<string>;
  /**
   * The name of what became of an environment. `pack` writes the whole tree into a new file, as `tar` has it; it is called once for each `reason`, unless the cache was
   * emptied.
   */
  addChange(
    name: string,
    reason: unknown,
    pack: (archive: string) => Promise<void>,
    options: { progress?: ReportProgress | undefined; signal?: AbortSignal | undefined },
  ): Promise<string>;
  /** Whether `ensure` has nothing to build. */
  isBuilt(name: string): Promise<boolean>;
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
