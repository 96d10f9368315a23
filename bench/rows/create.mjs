import { performance } from "node:perf_hooks";
import { compare } from "../comparison.mjs";
import { interleave } from "../interleave.mjs";
import { bubblewrapToFirstOutput } from "../peers/bubblewrap.mjs";

const GOAL = { most: 1 / 15, text: "≤ 1/15" };
const WARM_UP = 2;
/** `docker run` returns only when its container is gone; its first output comes a good deal earlier. Both are shown. */
const DOCKER_FIRST = "docker run, output";

/** @param {import("../bench.mjs").Bench} bench */
export async function measureCreate({ installation: { cloche }, environments, docker, runc, rounds, seconds }) {
  const ours = environments.map(
    (environment) => /** @type {const} */ ([environment, () => createToFirstOutput(cloche, environment)]),
  );
  /** @type {number[]} */
  const dockerFirst = [];
  const samples = await interleave({
    rounds,
    seconds,
    warmUp: WARM_UP,
    cases: {
      ...Object.fromEntries(ours),
      "docker run": async () => {
        const { firstOutputMs, endMs } = await docker.run();
        dockerFirst.push(firstOutputMs);
        return endMs;
      },
      "bare bwrap": bubblewrapToFirstOutput,
      "runc run": runc.runToFirstOutput,
    },
  });
  samples[DOCKER_FIRST] = dockerFirst.slice(WARM_UP);
  return environments.flatMap((environment) =>
    ["docker run", DOCKER_FIRST, "runc run", "bare bwrap"].map((peer) =>
      compare({
        what: `create → first output, ${environment}`,
        ours: samples[environment] ?? [],
        peer,
        peerSamples: samples[peer] ?? [],
        ...(peer === "docker run" && { goal: GOAL }),
      }),
    ),
  );
}

/**
 * A fresh workspace each time; it is deleted outside of the timing.
 *
 * @param {import("../installation.mjs").Cloche} cloche @param {string} environment @param {string} [backend] the default when not given
 */
export async function createToFirstOutput(cloche, environment, backend) {
  const start = performance.now();
  const { workspace_id } = await cloche.createWorkspace({ environment, ...(backend && { backend }) });
  const { stdout } = await cloche.execWorkspace(workspace_id, { command: ["echo", "ready"] });
  const elapsed = performance.now() - start;
  if (stdout !== "ready\n") throw new Error(`a new workspace printed ${JSON.stringify(stdout)}`);
  await cloche.deleteWorkspace(workspace_id);
  return elapsed;
}
