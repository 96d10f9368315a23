import { compare } from "../comparison.mjs";
import { interleave } from "../interleave.mjs";
import { createToFirstOutput } from "./create.mjs";
import { execTrue, inARow } from "./exec.mjs";

const CREATE_GOAL = { most: 1.1, text: "≤ 1.1" };
const EXEC_GOAL = { most: 1 / 30, text: "≤ 1/30" };
const EXECS_PER_ROUND = 25;
/** A daemon lives long: its code is compiled by then. */
const WARM_UP_EXECS = 500;

/** The backend `docker` beside the command `docker`, on one engine and one root file system. @param {import("../bench.mjs").Bench} bench */
export async function measureDocker({ installation: { cloche }, environments, docker, rounds, seconds }) {
  const environment = environments.at(-1) ?? "host";
  const { workspace_id } = await cloche.createWorkspace({ environment, backend: "docker" });
  const exec = () => execTrue(cloche, workspace_id);
  await docker.startIdle();
  await inARow(WARM_UP_EXECS, exec);
  const samples = await interleave({
    rounds,
    seconds,
    warmUp: 2,
    cases: {
      create: () => createToFirstOutput(cloche, environment, "docker"),
      "docker run": async () => (await docker.run()).firstOutputMs,
      exec: () => inARow(EXECS_PER_ROUND, exec),
      "docker exec": docker.exec,
    },
  });
  await cloche.deleteWorkspace(workspace_id);
  return [
    compare({
      what: `backend docker: create → first output, ${environment}`,
      ours: samples["create"] ?? [],
      peer: "docker run, output",
      peerSamples: samples["docker run"] ?? [],
      goal: CREATE_GOAL,
    }),
    compare({
      what: "backend docker: exec true",
      ours: samples["exec"] ?? [],
      peer: "docker exec",
      peerSamples: samples["docker exec"] ?? [],
      goal: EXEC_GOAL,
    }),
  ];
}
