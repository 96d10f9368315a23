import { execFile, spawn } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath, URL } from "node:url";
import { promisify } from "node:util";
import { timeCommand, timeReady, timeToEnd } from "../timed-command.mjs";

const ENGINE = fileURLToPath(new URL("../../scripts/docker-engine", import.meta.url));
const IMAGE = "cloche-bench";
const IDLE = "cloche-bench-idle";
const run = promisify(execFile);

/** Known before it runs, so that the daemon can be told where it will be. @param {string} directory */
export const engineFolder = (directory) => join(directory, "engine");
/** @param {string} directory */
export const engineAddress = (directory) => `unix://${engineFolder(directory)}/docker.sock`;

/**
 * A private engine with one image, stopped and removed by the clean-up.
 *
 * @param {{ directory: string, rootfs: string, cleanup: import("../cleanup.mjs").Cleanup }} given
 */
export async function startDocker({ directory, rootfs, cleanup }) {
  const folder = engineFolder(directory);
  cleanup.add("the Docker engine", () => run(ENGINE, ["stop", folder]));
  await run(ENGINE, ["start", folder]);
  const docker = ["docker", "--host", engineAddress(directory)];
  // Files of an environment may belong to shifted ids; in the image they are root's, as in any other image.
  const tar = spawn("tar", ["--directory", rootfs, "--owner=0", "--group=0", "--numeric-owner", "--create", "."], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  await timeCommand([...docker, "import", "-", IMAGE], { input: tar.stdout });
  const isolated = ["--network", "none"];
  let isIdle = false;
  return {
    run: () => timeReady([...docker, "run", "--rm", ...isolated, IMAGE, "echo", "ready"]),
    /** The container stays when it has ended, so that nobody is removed while others start. */
    runAndKeep: () => timeReady([...docker, "run", ...isolated, IMAGE, "echo", "ready"]),
    removeEnded: () => timeCommand([...docker, "container", "prune", "--force"]),
    /** Starts the container that `exec` goes to; once. */
    startIdle: async () => {
      if (isIdle) return;
      isIdle = true;
      await timeCommand([...docker, "run", "--detach", "--name", IDLE, ...isolated, IMAGE, "sleep", "86400"]);
    },
    exec: () => timeToEnd([...docker, "exec", IDLE, "true"]),
    containers: async () =>
      (await timeCommand([...docker, "ps", "--all", "--quiet"])).stdout.split("\n").filter(Boolean).length,
  };
}
