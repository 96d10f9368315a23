import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import process from "node:process";
import { setTimeout } from "node:timers/promises";
import { URL } from "node:url";
import { engineAddress } from "./peers/docker.mjs";
import { findLeftovers, removeEmptyCgroups, sandboxPids } from "./leftovers.mjs";

const sdk = new URL("../dist/index.js", import.meta.url).href;

/**
 * @typedef {import("../src/sdk/cloche.ts").Cloche} Cloche
 * @typedef {{ directory: string, home: string, environments: string, cloche: Cloche, daemonPid: () => Promise<number> }} Installation
 */

/**
 * A fresh installation in a temporary folder. Only built environments are shared with the user's cache: they take long to build and stay the same.
 * Seeds are not, so that the large project leaves nothing behind.
 *
 * @param {import("./cleanup.mjs").Cleanup} cleanup @returns {Promise<Installation>}
 */
export async function openInstallation(cleanup) {
  const directory = mkdtempSync(join(tmpdir(), "cloche-bench-"));
  cleanup.add("the temporary folder", async () => removeFolder(directory));
  chmodSync(directory, 0o711); // the ids of a sandbox are nobody here and must get to their layers
  const home = join(directory, "home");
  const environments = join(sharedCache(), "environments");
  mkdirSync(environments, { recursive: true });
  mkdirSync(join(directory, "cache"));
  symlinkSync(environments, join(directory, "cache", "environments"));

  const { Cloche } = /** @type {{ Cloche: new (options: object) => Cloche }} */ (await import(sdk));
  // The default is what is measured.
  const env = {
    ...process.env,
    CLOCHE_BACKEND: undefined,
    CLOCHE_OCI_RUNTIME: undefined,
    DOCKER_HOST: engineAddress(directory),
  };
  const cloche = new Cloche({ home, cache: join(directory, "cache"), env });
  cleanup.add("what the installation left", async () => {
    const left = await leftAfterAWhile({ directory, home });
    if (left.length === 0) return;
    endSandboxes({ directory, home });
    removeEmptyCgroups(home);
    throw new Error(left.join("; "));
  });
  cleanup.add("workspaces and daemon", async () => {
    if ((await cloche.daemonStatus()).running) {
      const { workspaces } = await cloche.listWorkspaces();
      await Promise.all(workspaces.map(async ({ workspace_id }) => await cloche.deleteWorkspace(workspace_id)));
      await cloche.stopDaemon();
    }
    await cloche.close();
  });
  const daemonPid = async () => {
    const { pid } = await cloche.daemonStatus();
    if (pid === null) throw new Error("The daemon does not run");
    return pid;
  };
  return { directory, home, environments, cloche, daemonPid };
}

function sharedCache() {
  const base = process.env["XDG_CACHE_HOME"] || join(homedir(), ".cache");
  return resolve(process.env["CLOCHE_CACHE"] || join(base, "cloche"));
}

/** A daemon that let go of its home may still be on its way out. @param {import("./leftovers.mjs").Place} place */
async function leftAfterAWhile(place) {
  let left = findLeftovers(place);
  for (let look = 0; left.length > 0 && look < 100; look++) {
    await setTimeout(20);
    left = findLeftovers(place);
  }
  return left;
}

/** Only what is in a cgroup of this very installation: a name or a mount may be anybody's. @param {import("./leftovers.mjs").Place} place */
function endSandboxes(place) {
  for (const pid of sandboxPids(place)) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // it ended meanwhile
    }
  }
}

/** @param {string} directory */
function removeFolder(directory) {
  // What is mounted may be somebody's files.
  if (readFileSync("/proc/self/mountinfo", "utf8").includes(` ${directory}/`))
    throw new Error(`something is mounted below ${directory}`);
  rmSync(directory, { recursive: true, force: true, maxRetries: 3 });
}
