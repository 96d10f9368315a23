import { performance } from "node:perf_hooks";
import { compare } from "../comparison.mjs";
import { createToFirstOutput } from "./create.mjs";

const COUNT = 100;
const GOAL = { most: 1 / 10, text: "≤ 1/10" };

/**
 * A hundred asked for in one moment, once on each side: the samples are the hundred. Each is timed from its own start.
 *
 * @param {import("../bench.mjs").Bench} bench
 */
export async function measureCrowd({ installation: { cloche }, environments, docker, say }) {
  // The same root file system as the engine's image, where there is one.
  const environment = environments.at(-1) ?? "host";
  await createToFirstOutput(cloche, environment);
  await docker.run();
  say(`${COUNT} workspaces at once`);
  /** @type {string[]} */
  const made = [];
  const ours = await together(async () => {
    const start = performance.now();
    const { workspace_id } = await cloche.createWorkspace({ environment });
    made.push(workspace_id);
    const { stdout } = await cloche.execWorkspace(workspace_id, { command: ["echo", "ready"] });
    if (stdout !== "ready\n") throw new Error(`a new workspace printed ${JSON.stringify(stdout)}`);
    return performance.now() - start;
  });
  await Promise.all(made.map(async (id) => await cloche.deleteWorkspace(id)));
  say(`${COUNT} times docker run at once`);
  const peer = await together(async () => (await docker.runAndKeep()).firstOutputMs);
  await docker.removeEnded();
  return [
    compare({
      what: `${COUNT} at once: create → first output, ${environment}`,
      ours,
      peer: `docker run × ${COUNT}`,
      peerSamples: peer,
      goal: GOAL,
      note:
        `all ${COUNT} at once on both sides; the last one answered after ${seconds(ours)} s, Docker's after ${seconds(peer)} s; ` +
        "all our workspaces live until the last one has answered, Docker's containers end and are removed afterwards",
    }),
  ];
}

/** @param {() => Promise<number>} one */
const together = async (one) => await Promise.all(Array.from({ length: COUNT }, one));

/** @param {readonly number[]} samples */
const seconds = (samples) => (Math.max(...samples) / 1000).toFixed(1);
