import { copyFileSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { timeCommand } from "./timed-command.mjs";

const SMALL_PROGRAMS = ["/bin/sh", "/bin/echo", "/bin/true", "/bin/sleep"];

/** The root file system of a built environment in the cache. @param {string} environments @param {string} name @param {string | null} digest */
export function findRootfs(environments, name, digest) {
  for (const entry of readdirSync(environments)) {
    try {
      const record = JSON.parse(readFileSync(join(environments, entry, "environment.json"), "utf8"));
      if (record.name === name && record.digest === digest) return join(environments, entry, "rootfs");
    } catch {
      // a build in progress or something else
    }
  }
  return undefined;
}

/** A few programs of the host with their libraries: enough for a peer where no environment can be built. @param {string} folder */
export async function makeSmallRootfs(folder) {
  for (const program of SMALL_PROGRAMS) {
    const { stdout } = await timeCommand(["ldd", program]);
    for (const path of [program, ...(stdout.match(/\/\S+/g) ?? [])]) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      copyFileSync(path, join(folder, path));
    }
  }
  for (const name of ["proc", "dev", "sys", "tmp"]) mkdirSync(join(folder, name), { recursive: true });
  return folder;
}
