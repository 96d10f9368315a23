import { readFile, readdir, stat } from "node:fs/promises";
import { errnoOf } from "./errors.ts";

/**
 * Numbers of the inodes of all files that a process has open or mapped, of those processes that may be looked at. Without their devices, which a mapping
 * names in another way than `stat` on some file systems: a number that two files share makes one of them look used, and never the other way round.
 */
export async function openInodes(): Promise<Set<number>> {
  const inodes = new Set<number>();
  const processes = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  for (const id of processes) {
    for (const descriptor of (await orNothing(readdir(`/proc/${id}/fd`))) ?? []) {
      const found = await orNothing(stat(`/proc/${id}/fd/${descriptor}`));
      if (found?.isFile()) inodes.add(found.ino);
    }
    const maps = (await orNothing(readFile(`/proc/${id}/maps`, "latin1"))) ?? "";
    for (const [, inode] of maps.matchAll(/^\S+ \S+ \S+ \S+ (\d+)/gm)) inodes.add(Number(inode));
  }
  return inodes;
}

/** A process may have ended meanwhile, or be another user's. */
async function orNothing<Result>(look: Promise<Result>): Promise<Result | undefined> {
  try {
    return await look;
  } catch (error) {
    if (["ENOENT", "ESRCH", "EACCES", "EPERM"].includes(errnoOf(error) ?? "")) return undefined;
    throw error;
  }
}
