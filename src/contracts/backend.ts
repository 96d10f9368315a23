import type { GuestClient } from "../guest/client.ts";
import type { LimitHealth } from "../model/health.ts";
import type { ExecutionMode } from "../model/names.ts";
import type { ReportProgress } from "../model/progress.ts";
import type { Rootfs } from "./environment.ts";

export interface PrepareOptions {
  readonly progress?: ReportProgress | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** What a backend has to leave of what it keeps, besides what it finds in use itself. */
export interface PruneKeep {
  /** Digests of the environments that are built. */
  readonly environments: ReadonlySet<string>;
  /** Trees that workspaces of this home stand on. */
  readonly baselines: ReadonlySet<string>;
  /** Where it is given: digests of environments, and nothing goes but what was made of these. */
  readonly only?: ReadonlySet<string> | undefined;
  /** Everything stays, and what would have gone is told. */
  readonly dryRun: boolean;
}

/** Something that was removed, by a name that tells what it was. */
export interface Removed {
  readonly name: string;
  readonly sizeBytes: number;
}

/** Limits that a wall is asked to enforce; a limit the host cannot hold is left out by the caller after `probe`. */
export interface WallLimits {
  readonly vcpuCount: number;
  readonly memMib: number;
  readonly pids: number;
  readonly diskMib: number | undefined;
}

export interface WallSpec {
  /** Of this sandbox, among all of the installation: a workspace gets another one with each reset. Letters, digits and dashes. */
  readonly sandboxName: string;
  /** The workspace's own folder, made by the caller, owned by the backend until `destroy`. */
  readonly directory: string;
  readonly rootfs: Rootfs;
  /** Read-only tree that is the lowest layer of `/workspace`. */
  readonly baseline: string;
  /** Folders of read-only layers over the baseline, bottom first, as `copyLayer` made them. */
  readonly layers: readonly string[];
  readonly hostname: string;
  readonly limits: WallLimits;
  /** Where `saveMachine` has saved a running machine, to start from with its processes. Only where `liveSnapshots` is declared. */
  readonly machine?: string | undefined;
  /** An OCI runtime that makes the wall of the backend `container`: `runsc`, `runc`, `crun` or a path. */
  readonly ociRuntime: string | undefined;
  /** Told what the start waits for, where that takes long: what `prepare` would have made. */
  readonly progress?: ReportProgress | undefined;
}

/** What the store keeps of a wall, enough for its backend to find it again after the daemon's death. Plain JSON; what is in it is the backend's own. */
export interface WallRecord {
  readonly kind: string;
  readonly [key: string]: unknown;
}

export interface StopOptions {
  /** What it wrote is removed next. */
  readonly discard?: boolean;
}

/** A running sandbox. */
export interface Wall {
  readonly record: WallRecord;
  /** Where the workspace's gate, a process of its own, connects to the guest program: beside our connections, and while no daemon runs. Where `doors` is declared. */
  readonly gateSocket?: string | undefined;
  /** A new connection to the guest program, which has said hello; may be called many times, also at once. */
  connect(signal?: AbortSignal): Promise<GuestClient>;
  /** Whether it has ended, or does so within that time: a connection breaks a moment before its process is gone. */
  hasEnded(withinMs: number): Promise<boolean>;
  /** Ends every process in it. Idempotent. The writable layers stay; with `discard` they are removed next, so they need not be written out. */
  stop(options?: StopOptions): Promise<void>;
}

export interface BackendProbe {
  readonly available: boolean;
  /** What works, or why not. */
  readonly detail: string;
  readonly hint: string | null;
  readonly limits: readonly LimitHealth[];
}

/** What a backend can do beyond the verbs that every one has. What it does not declare is refused before anything is touched, and never offered. */
export interface BackendCapabilities {
  /** Walls off environments that show folders of the host (`host`). */
  readonly hostFolders: boolean;
  /** Takes `ociRuntime`. */
  readonly ociRuntime: boolean;
  /** Saves a running machine with its processes, and starts from one. */
  readonly liveSnapshots: boolean;
  /** Starts packed machines (`.smolmachine`). */
  readonly machineFiles?: boolean;
  /** The environment's files are not the commands' own; without it they can be changed, in the sandbox's own layer. */
  readonly guardedSystem?: boolean;
  /** Its walls have a `gateSocket`. */
  readonly doors?: boolean;
  /** The environment of a run can be changed: a sandbox of it can be written to by root, and another sandbox started from what became of it. */
  readonly remediation?: boolean;
}

/** A sandbox that goes on though the home which it belongs to was deleted. */
export interface HomelessSandbox {
  readonly home: string;
  readonly workspaceId: string;
  /** Ends and removes it. Idempotent. */
  readonly remove: () => Promise<void>;
}

/** A way to wall off an environment. */
export interface Backend {
  readonly name: string;
  /** The channel to the guest program, as users are told. */
  readonly executionMode: ExecutionMode;
  readonly capabilities: BackendCapabilities;
  /** Each sandbox is a machine, and keeps the memory that it has touched. */
  readonly isMachine?: boolean;
  /**
   * Whether a machine's processors are emulated. Then two of them wait for each other at every command, and one is the quicker machine for all but parallel
   * work. May fetch what it takes to find out, as `probe`.
   */
  isEmulated?(options: PrepareOptions): Promise<boolean>;
  /** With less memory nothing starts. A request for less is refused before anything is made. */
  readonly smallestMemMib?: number;
  /** Says whether it works here, proved by starting something. It may fetch what that needs. */
  probe(ociRuntime: string | undefined, progress?: ReportProgress): Promise<BackendProbe>;
  /** Makes once what it needs of an environment (an image, a frozen machine), so that a start is quick; `start` does it when it was not done. */
  prepare?(rootfs: Rootfs, limits: WallLimits, options: PrepareOptions): Promise<void>;
  /** Starts a sandbox whose guest program answers. On failure nothing is left running. */
  start(spec: WallSpec, signal: AbortSignal | undefined): Promise<Wall>;
  /** Finds a wall of an earlier daemon; undefined when it is gone. */
  adopt(directory: string, record: WallRecord): Promise<Wall | undefined>;
  /**
   * Copies what a sandbox has written to `/workspace` so far, whether it runs or not, into a new folder that later walls take as a layer. Costs
   * what was written. `target` does not exist before; on failure it does not after. Gives its size in bytes.
   */
  copyLayer(directory: string, target: string, signal: AbortSignal | undefined): Promise<number>;
  /**
   * Saves a running machine with its processes into the new folder `target`; it stands still meanwhile, and goes on after. Gives the bytes. Where
   * `liveSnapshots` is declared.
   */
  saveMachine?(directory: string, record: WallRecord, target: string): Promise<number>;
  /** Lets go of what it keeps of a saved machine, before that is removed. */
  forgetMachine?(saved: string): Promise<void>;
  /** Ends every process of a sandbox, recorded or not; its layers stay. Idempotent. */
  halt(sandboxName: string, directory: string): Promise<void>;
  /** Throws when `remove` could not be done now, before anything is ended: what cannot be deleted goes on as it was. */
  requireRemovable?(directory: string): Promise<void>;
  /**
   * Removes what a workspace left: processes, cgroups, layers. Works after any crash and without a record. Idempotent. The folder goes last, to `discard` where
   * that is given: it may remove it later.
   */
  remove(sandboxName: string, directory: string, discard?: (directory: string) => Promise<void>): Promise<void>;
  /**
   * Removes what it, or an older version of it, has made of environments and seeds and what is no longer needed; all of it can be made again. What a
   * sandbox runs on, a snapshot needs or a process is making stays, also that of other homes.
   */
  prune?(keep: PruneKeep): Promise<Removed[]>;
  /** Sandboxes whose home is gone, of whatever home: nobody else can end them. */
  findHomeless?(): Promise<HomelessSandbox[]>;
  /** Before the first verb of a daemon: ends what an earlier one kept for itself. */
  recover?(): Promise<void>;
  /** Called when the daemon ends. Ends what belongs to no workspace; sandboxes go on. */
  close?(): Promise<void>;
}
