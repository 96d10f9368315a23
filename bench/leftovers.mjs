import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { commandOf, processesInCgroup, processesNaming } from "./processes.mjs";

const CGROUPS = "/sys/fs/cgroup";

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

/** @param {string} home */
function cgroupsOf(home) {
  if (!existsSync(CGROUPS)) return [];
  return ["", ...readdirSync(CGROUPS)]
    .map((controller) => join(CGROUPS, controller, cgroupName(home)))
    .flatMap((folder) => {
      try {
        return readdirSync(folder, { withFileTypes: true })
          .filter((entry) => entry.isDirectory())
          .map(({ name }) => join(folder, name));
      } catch {
        return []; // none here
      }
    });
}
