import { chmodSync, chownSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import type { IdMap } from "../base/id-map.ts";
import { AGENT } from "../model/names.ts";

/** The writable layers of a workspace: one over the environment, one over the baseline of `/workspace`. */
export function makeLayers(directory: string, idMap: IdMap): void {
  makePassable(join(directory, "root"));
  for (const path of ["root/upper", "root/work"]) makeOwned(join(directory, path), 0o755, idMap.toHost(0, 0));
  makeWorkspaceLayer(directory, idMap);
}

/** The writable layer of `/workspace` alone, for a wall whose environment is written to elsewhere. */
export function makeWorkspaceLayer(directory: string, idMap: IdMap): void {
  makePassable(join(directory, "workspace"));
  makeOwned(workFolder(directory), 0o755, idMap.toHost(0, 0));
  makeOwned(writableLayer(directory), 0o755, idMap.toHost(AGENT.uid, AGENT.gid));
}

/** What a sandbox has written to `/workspace`. */
export const writableLayer = (directory: string): string => join(directory, "workspace/upper");

/** The overlay's own, beside the writable layer. */
export const workFolder = (directory: string): string => join(directory, "workspace/work");

/** Whatever the umask says: the ids of a sandbox have to pass, and are kept out by the folder above. */
function makePassable(path: string): void {
  mkdirSync(path, { recursive: true });
  chmodSync(path, 0o755);
}

/** A folder that belongs to an id of the sandbox. */
export function makeOwned(path: string, mode: number, owner: { uid: number; gid: number }): void {
  mkdirSync(path, { recursive: true, mode });
  chownSync(path, owner.uid, owner.gid);
}
