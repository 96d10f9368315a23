import type { HostFolders } from "./host-folders.ts";
import type { IdMap } from "../base/id-map.ts";
import type { ReportProgress } from "../model/progress.ts";
import { createHash } from "node:crypto";

/** How a build is watched, and what it may do. */
export interface BuildManner {
  readonly progress: ReportProgress;
  readonly signal: AbortSignal | undefined;
  /** Whether steps that somebody else wrote may use the network. */
  readonly network?: boolean | undefined;
}

/** Where and for whom a definition builds. */
export interface BuildContext extends BuildManner {
  /** An empty folder to fill with the root file system. */
  readonly rootfs: string;
  /** A folder for anything else; it is removed when the build ends. */
  readonly scratch: string;
  readonly idMap: IdMap;
}

/** How one environment comes to be. The cache decides when, where, and that it happens once. */
export interface EnvironmentDefinition {
  readonly name: string;
  readonly description: string;
  readonly packages: readonly string[];
  /** A packed machine of the host, which takes the place of the root file system. */
  readonly machineFile?: string;
  /** What of the host shows through, read-only. Asked for at every use. */
  hostFolders(): HostFolders;
  /** Changes whenever a build would give something else; hex. Asked for at every use, so it has to be quick. */
  digest(): Promise<string>;
  /** Throws what this host or its user lacks to build it, as far as a look tells; `build` starts with it. */
  requireBuildable?(idMap: IdMap): Promise<void>;
  /** Fills `context.rootfs`, owned as `context.idMap` says. Stops early when the signal aborts. */
  build(context: BuildContext): Promise<void>;
}

/** Environments that are not in a list: what follows the prefix says which. */
export interface EnvironmentFamily {
  readonly prefix: string;
  /** What a name looks like, for messages. */
  readonly form: string;
  define(name: string): EnvironmentDefinition;
}

/** Part of every digest: raise it when the same definition is built differently. */
const BUILDER_VERSION = 1;

export function digestOf(...parts: readonly unknown[]): string {
  return createHash("sha256")
    .update(JSON.stringify([BUILDER_VERSION, ...parts]))
    .digest("hex");
}
