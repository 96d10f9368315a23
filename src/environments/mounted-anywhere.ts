import { errnoOf } from "../base/errors.ts";
import { readdir, readFile } from "node:fs/promises";
import { basename } from "node:path";

/**
 * Whether the mounts of any process that may be looked at name this folder, as a source or as a layer. The names of built environments hold
 * a digest, so the name alone tells, in whatever way the path is written there.
 */
export async function isMountedAnywhere(folder: string): Promise<boolean> {
  const name = `/${basename(folder)}/`;
  const processes = (await readdir("/proc")).filter((entry) => /^\d+$/.test(entry));
  for (const id of processes) {
    const mounts = await readFile(`/proc/${id}/mountinfo`, "utf8").catch((error: unknown) => {
      // Ended meanwhile, or another user's: that one cannot stand on an environment of ours.
      if (["ENOENT", "ESRCH", "EACCES", "EPERM", "EINVAL"].includes(errnoOf(error) ?? "")) return "";
      throw error;
    });
    if (mounts.includes(name)) return true;
  }
  return false;
}
