import { mkdirSync, mkdtempSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { errnoOf } from "./errors.ts";
import { makePrivateFolder } from "./private-folder.ts";
import { identifyProcess, isProcessAlive } from "./process-identity.ts";
import { removeTree } from "./remove-tree.ts";

const folderIn = (place: string): string => join(place, "tmp");

/**
 * A new folder for work that ends with this process, in the home or the cache: `tmp/KIND-PID-START-RANDOM`. It is named after the process, so that what one
 * left that was killed is removed by the next process that makes one, or by the next daemon.
 *
 * SECURITY: not in the system's `/tmp`, where others see it, and can make what looks like it (G-24)
 */
export async function makeWorkFolder(place: string, kind: string): Promise<string> {
  makePrivateFolder(place);
  await removeAbandonedWork(place);
  mkdirSync(folderIn(place), { recursive: true, mode: 0o700 });
  const self = identifyProcess(process.pid);
  return mkdtempSync(join(folderIn(place), `${kind}-${process.pid}-${self?.startTicks ?? "0"}-`));
}

/** Removes the folders of processes that are gone. What cannot be removed is tried again the next time. */
export async function removeAbandonedWork(place: string): Promise<void> {
  for (const name of await namesIn(folderIn(place))) {
    const [, pid, startTicks] = /^[a-z]+-(\d+)-(\d+)-/.exec(name) ?? [];
    if (pid === undefined || startTicks === undefined || isProcessAlive({ pid: Number(pid), startTicks })) continue;
    await removeTree(join(folderIn(place), name)).catch(() => undefined);
  }
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return [];
    throw error;
  }
}
