import { chownSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import type { IdMap } from "../base/id-map.ts";
import { AGENT } from "../model/names.ts";

/** The writable layers of a workspace: one over the environment, one over the baseline of `/workspace`. */
export function makeLayers(directory: string, idMap: IdMap): void {
  for (const path of ["root/upper", "root/work"]) makeOwned(join(directory, path), 0o755, idMap.toHost(0, 0));
  makeWorkspaceLayer(directory, idMap);
}

/** The writable layer of `/workspace` alone, for a wall whose environment is written to elsewhere. */
export function makeWorkspaceLayer(directory: string, idMap: IdMap): void {
  makeOwned(workFolder(directory), 0o755, idMap.toHost(0, 0));
  makeOwned(writableLayer(directory), 0o755, idMap.toHost(AGENT.uid, AGENT.gid));
}

/** What a sandbox has written to `/workspace`. */
export const writableLayer = (directory: string): string => join(directory, "workspace/upper");

/** The overlay's own, beside the writable layer. */
export const workFolder = (directory: string): string => join(directory, "workspace/work");

/** A folder that belongs to an id of the sandbox. */
export function makeOwned(path: string, mode: number, owner: { uid: number; gid: number }): void {
  mkdirSync(path, { recursive: true, mode });
  chownSync(path, owner.uid, owner.gid);
}
