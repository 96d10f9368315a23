import { readFile, rm } from "node:fs/promises";
import { mountsBelow } from "../../src/base/remove-tree.ts";

/** Removes a plain folder, which has files of a sandbox's user where others can enter: cloche itself would refuse. */
export async function removeModel(path: string): Promise<void> {
  const mounts = mountsBelow(path, await readFile("/proc/self/mountinfo", "utf8"));
  if (mounts.length > 0) throw new Error(`something is mounted at ${mounts.join(", ")}`);
  await rm(path, { recursive: true, force: true });
}
