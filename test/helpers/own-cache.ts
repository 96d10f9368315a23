import { execFileSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { placesFrom } from "../../src/base/paths.ts";

/** The cache that the tests share. */
export const SHARED_CACHE = placesFrom(process.env).cache;

/** Small ones, and all that a test with a cache of its own asks for. */
const COPIED = /^(host|debian_12)-[0-9a-f]+-/;

/** A cache of one's own, which may be cleaned up and damaged: what takes long to make is there already, and everything else is made in it. Gives its path. */
export function makeOwnCache(path: string): string {
  restoreEnvironments(path);
  // No clean-up looks at them.
  eachMissing(path, "vm/kernels", symlinkSync);
  // Found out by a machine that may hang for seconds.
  eachMissing(path, "vm/accelerators", copyFileSync);
  return path;
}

/** Has the environments there again that were cleaned up: to build one would take long. The folders are its own, the files are shared: nobody writes to them. */
export function restoreEnvironments(path: string): void {
  eachMissing(path, "environments", (from, to) => {
    execFileSync("cp", ["-al", from, to]);
  });
}

function eachMissing(path: string, folder: string, make: (from: string, to: string) => void): void {
  const [shared, own] = [join(SHARED_CACHE, folder), join(path, folder)];
  mkdirSync(own, { recursive: true });
  for (const name of whole(shared)) {
    if (folder === "environments" && !COPIED.test(name)) continue;
    if (!existsSync(join(own, name))) make(join(shared, name), join(own, name));
  }
}

const whole = (folder: string): string[] =>
  existsSync(folder) ? readdirSync(folder).filter((name) => !name.startsWith(".")) : [];
