import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { errnoOf, messageOf } from "../../base/errors.ts";
import { MountTable, wayBelow } from "../../base/file-location.ts";
import { removeTree } from "../../base/remove-tree.ts";
import type { WallSpec } from "../../contracts/backend.ts";
import type { Rootfs } from "../../contracts/environment.ts";
import { failure } from "../../model/error-codes.ts";
import { guestProgram } from "../../walls/guest-program.ts";

/** A folder of the host behind the layer that hides what must not show of it. */
export interface CoveredFolder {
  /** Where the sandbox has it. */
  readonly target: string;
  readonly source: string;
  readonly cover: string;
}

const namesFile = (directory: string): string => join(directory, "host-folders.json");

/** Where the sandbox's container has folders of the host; undefined when it was never made. */
export function mountedFolders(directory: string): readonly string[] | undefined {
  try {
    return JSON.parse(readFileSync(namesFile(directory), "utf8")) as readonly string[];
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

/** Of a container that turned out to be none of this version's. */
export const forgetFolders = (directory: string): void => rmSync(namesFile(directory), { force: true });

/**
 * Makes the covers anew for this start of a sandbox; they stay for as long as an overlay stands on them. A container has the mounts that it was made with, so the
 * folders are those of its first start.
 */
export async function makeCovers({
  directory,
  rootfs,
}: Pick<WallSpec, "directory" | "rootfs">): Promise<CoveredFolder[]> {
  const place = join(directory, "covers");
  const mounted = mountedFolders(directory) ?? rootfs.hostPaths;
  await removeTree(place);
  mkdirSync(place, { mode: 0o755 });
  writeFileSync(namesFile(directory), JSON.stringify(mounted), { mode: 0o600 });
  return await Promise.all(mounted.map((target, index) => makeCover(join(place, String(index)), target, rootfs)));
}

async function makeCover(place: string, target: string, rootfs: Rootfs): Promise<CoveredFolder> {
  const [cover, empty] = [join(place, "cover"), join(place, "empty")];
  for (const folder of [place, cover, empty]) mkdirSync(folder, { mode: 0o755 });
  // SECURITY: what is left out since the container was made does not show when it starts again (G-01)
  if (!rootfs.hostPaths.includes(target)) return { target, source: empty, cover };
  requireOutside(place, target);
  const places = rootfs.coveredPaths.filter((path) => path.startsWith(`${target}/`));
  const relative = places.map((path) => path.slice(target.length + 1));
  try {
    await promisify(execFile)(guestProgram(), ["cover", "--folder", target, "--to", cover, ...relative]);
  } catch (error) {
    throw failure("SANDBOX_START_FAILED", `Cannot cover what must not show of ${target}: ${messageOf(error)}`);
  }
  return { target, source: target, cover };
}

/** The kernel makes no overlay of two folders of which one is in the other. */
function requireOutside(place: string, target: string): void {
  const mounts = new MountTable();
  if (wayBelow(mounts.locate(place), mounts.locate(target)) === undefined) return;
  throw failure("NOT_SUPPORTED", `The docker backend cannot show ${target}: the cloche home is in it`, {
    hint: "Set CLOCHE_HOME to a folder elsewhere; or use the backend container, or another environment than host",
  });
}
