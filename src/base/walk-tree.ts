import type { Stats } from "node:fs";
import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";

export interface TreeEntry {
  readonly path: string;
  readonly stats: Stats;
}

/**
 * Everything below a folder, a folder before what is in it; links are not followed. Written out because `opendir` with `recursive`
 * leaves entries out on Node 20.
 */
export async function* walkTree(folder: string): AsyncGenerator<TreeEntry> {
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    const stats = await lstat(path);
    yield { path, stats };
    if (stats.isDirectory()) yield* walkTree(path);
  }
}

/** Bytes on disk of a file, or of all below a folder; a file with several names counts once, and a hole not at all. */
export async function measureTree(path: string): Promise<number> {
  const own = await lstat(path);
  if (!own.isDirectory()) return own.blocks * 512;
  const counted = new Set<number>();
  let bytes = 0;
  for await (const { stats } of walkTree(path)) {
    if (stats.nlink > 1 && !stats.isDirectory()) {
      if (counted.has(stats.ino)) continue;
      counted.add(stats.ino);
    }
    bytes += stats.blocks * 512;
  }
  return bytes;
}
