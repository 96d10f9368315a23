import { createHash } from "node:crypto";
import { readdirSync, readFileSync, rmdirSync } from "node:fs";
import { join } from "node:path";
import { commandOf, processesInCgroup, processesNaming } from "./processes.mjs";

const CGROUPS = "/sys/fs/cgroup";
const MAX_DEPTH = 8;

/** The name below which an installation keeps its cgroups. @param {string} home */
const cgroupName = (home) => `cloche-${createHash("sha256").update(home).digest("hex").slice(0, 10)}`;

/**
 * @typedef {{ directory: string, home: string }} Place both made for this run, so that nobody else's process has to do with them
 */

/** Processes in the installation's sandboxes. @param {Place} place */
export const sandboxPids = ({ home }) => processesInCgroup(cgroupName(home));

/** Everything that an installation and the peers in its folder should have taken with them, one line each. @param {Place} place */
export function findLeftovers(place) {
  const pids = new Set([...sandboxPids(place), ...processesNaming(place.directory)]);
  const processes = [...pids].map((pid) => `process ${pid}: ${commandOf(pid).slice(0, 100)}`);
  const mounts = readFileSync("/proc/self/mountinfo", "utf8")
    .split("\n")
    .map((line) => line.split(" ")[4] ?? "")
    .filter((point) => point.startsWith(`${place.directory}/`))
    .map((point) => `mount ${point}`);
  return [...processes, ...mounts, ...cgroupsOf(place.home).map((path) => `cgroup ${path}`)];
}

/** Removes the cgroups of the installation that are empty; what is not stays, and is told. @param {string} home */
export function removeEmptyCgroups(home) {
  for (const path of cgroupsOf(home).reverse()) {
    try {
      rmdirSync(path);
    } catch {
      // Somebody is in it: the next look tells.
    }
  }
}

/** Its cgroups in every hierarchy, parents first. @param {string} home */
function cgroupsOf(home) {
  const name = cgroupName(home);
  return foldersBelow(CGROUPS, MAX_DEPTH).filter((path) => path.split("/").includes(name));
}

/** @param {string} folder @param {number} depth @returns {string[]} */
function foldersBelow(folder, depth) {
  if (depth === 0) return [];
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .flatMap(({ name }) => [join(folder, name), ...foldersBelow(join(folder, name), depth - 1)]);
  } catch {
    return []; // removed meanwhile, or not there at all
  }
}
