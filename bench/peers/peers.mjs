import { join } from "node:path";
import { findRootfs, makeSmallRootfs } from "../rootfs.mjs";
import { startDocker } from "./docker.mjs";
import { prepareRunc } from "./runc.mjs";

const BUILT = "debian:12";

/**
 * @typedef {Awaited<ReturnType<typeof startDocker>>} Docker
 * @typedef {Awaited<ReturnType<typeof prepareRunc>>} Runc
 */

/**
 * Makes ready what is compared with: the environment, an engine with the same root file system as its image, a bundle of it. What no chosen row
 * needs is not started.
 *
 * @param {{ installation: import("../installation.mjs").Installation, cleanup: import("../cleanup.mjs").Cleanup, needed: readonly string[], say: (text: string) => void }} given
 * @returns {Promise<{ environments: string[], docker: Docker, runc: Runc }>}
 */
export async function startPeers({ installation, cleanup, needed, say }) {
  if (!needed.includes("docker")) return { environments: ["host"], docker: none, runc: none };
  const built = await rootfsOfBuilt(installation, say);
  const rootfs = built ?? (await makeSmallRootfs(join(installation.directory, "rootfs")));
  say("starting a private Docker engine");
  const docker = await startDocker({ directory: installation.directory, rootfs, cleanup });
  const runc = needed.includes("runc") ? await prepareRunc({ directory: installation.directory, rootfs }) : none;
  return { environments: built === undefined ? ["host"] : ["host", BUILT], docker, runc };
}

/** @param {import("../installation.mjs").Installation} installation @param {(text: string) => void} say */
async function rootfsOfBuilt({ cloche, environments }, say) {
  try {
    say(`environment ${BUILT}: built once, then taken from the cache`);
    const { digest } = await cloche.pullEnvironment(BUILT);
    return findRootfs(environments, BUILT, digest);
  } catch (error) {
    say(`${BUILT} is left out: ${error instanceof Error ? error.message : String(error)}`);
    return undefined;
  }
}

/** Stands for a peer that was not started because nothing chosen needs it. @type {any} */
const none = new Proxy(
  {},
  {
    get: (_, name) =>
      name === "then" ? undefined : () => Promise.reject(new Error(`peer not started: ${String(name)}`)),
  },
);
