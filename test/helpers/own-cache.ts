import { copyFileSync, existsSync, mkdirSync, readdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { placesFrom } from "../../src/base/paths.ts";

/** The cache that the tests share. */
export const SHARED_CACHE = placesFrom(process.env).cache;

/**
 * A cache of one's own, which may be cleaned up and damaged: what takes long to make is there as links, one for each, and everything else is made in it. Gives
 * its path.
 */
export function makeOwnCache(path: string): string {
  for (const folder of ["environments", "vm/kernels"]) linkAll(path, folder);
  // Small, and found out by a machine that may hang for seconds.
  const [from, to] = [join(SHARED_CACHE, "vm/accelerators"), join(path, "vm/accelerators")];
  mkdirSync(to);
  for (const name of whole(from)) copyFileSync(join(from, name), join(to, name));
  return path;
}

/** Has the environments there again that were cleaned up: to build one would take long. */
export function restoreEnvironments(path: string): void {
  linkAll(path, "environments");
}

function linkAll(path: string, folder: string): void {
  mkdirSync(join(path, folder), { recursive: true });
  for (const name of whole(join(SHARED_CACHE, folder))) {
    const link = join(path, folder, name);
    if (!existsSync(link)) symlinkSync(join(SHARED_CACHE, folder, name), link);
  }
}

const whole = (folder: string): string[] =>
  existsSync(folder) ? readdirSync(folder).filter((name) => !name.startsWith(".")) : [];
