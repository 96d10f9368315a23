import { setTimeout as sleep } from "node:timers/promises";
import { performance } from "node:perf_hooks";
import { compare } from "../comparison.mjs";
import { interleave } from "../interleave.mjs";
import { descendants, openFiles, residentKib } from "../processes.mjs";

const GOAL = { most: 1 / 30, text: "≤ 1/30" };
const EXECS_PER_ROUND = 25;
/** A daemon lives long: its code is compiled by then. */
const WARM_UP_EXECS = 500;
const SETTLE_MS = 100;
const LEAK_EXECS = 1000;
const LEAK_RUNS = 3;
/** Garbage that was not collected yet looks like growth: this much is none. */
const LEAK_MIB = 8;

/** @param {import("../bench.mjs").Bench} bench */
export async function* measureExec({ installation: { cloche, daemonPid }, docker, rounds, seconds }) {
  const { workspace_id } = await cloche.createWorkspace({ environment: "host" });
  const exec = () => execTrue(cloche, workspace_id);
  await docker.startIdle();
  await inARow(WARM_UP_EXECS, exec);
  const samples = await interleave({
    rounds,
    seconds: seconds / 2,
    warmUp: 2,
    cases: { ours: () => inARow(EXECS_PER_ROUND, exec), "docker exec": docker.exec },
  });
  yield compare({
    what: "exec true",
    ours: samples["ours"] ?? [],
    peer: "docker exec",
    peerSamples: samples["docker exec"] ?? [],
    goal: GOAL,
  });
  yield await measureLeak(await daemonPid(), exec);
  await cloche.deleteWorkspace(workspace_id);
}

/** @param {import("../installation.mjs").Cloche} cloche @param {string} workspaceId */
export async function execTrue(cloche, workspaceId) {
  const start = performance.now();
  const { exit_code } = await cloche.execWorkspace(workspaceId, { command: ["true"] });
  if (exit_code !== 0) throw new Error(`"true" ended with ${exit_code}`);
  return performance.now() - start;
}

/** @param {number} count @param {() => Promise<number>} measure */
export async function inARow(count, measure) {
  const samples = [];
  for (let i = 0; i < count; i++) samples.push(await measure());
  return samples;
}

/** @param {number} daemon @param {() => Promise<number>} exec @returns {Promise<import("../table.mjs").Row>} */
async function measureLeak(daemon, exec) {
  const look = () => ({
    files: openFiles(daemon),
    processes: descendants(daemon).length,
    resident_kib: residentKib(daemon),
  });
  const looks = [look()];
  for (let run = 0; run < LEAK_RUNS; run++) {
    await inARow(LEAK_EXECS, exec);
    await sleep(SETTLE_MS); // the process above the last command ends a moment after it
    looks.push(look());
  }
  // The engine's heap grows until it has its size, a leak grows for ever: it shows in every run, also in the one that grew least.
  const growth = looks.slice(1).map((one, run) => one.resident_kib - (looks[run]?.resident_kib ?? 0));
  const grown = Math.min(...growth) / 1024;
  const before = /** @type {ReturnType<typeof look>} */ (looks[0]);
  const after = /** @type {ReturnType<typeof look>} */ (looks.at(-1));
  const files = after.files - before.files;
  const processes = after.processes - before.processes;
  return {
    what: `growth over ${LEAK_EXECS} execs`,
    unit: "MiB",
    ours_p50: grown,
    ours_p99: null,
    peer: "-",
    peer_p50: null,
    ratio: null,
    goal: `0 fds, 0 processes, ≤ ${LEAK_MIB} MiB`,
    holds: files <= 0 && processes <= 0 && grown <= LEAK_MIB,
    note: `${files} more fds (now ${after.files}), ${processes} more processes after ${LEAK_RUNS} × ${LEAK_EXECS}; resident MiB: ${looks.map((one) => (one.resident_kib / 1024).toFixed(0)).join(" → ")}`,
    details: { looks },
  };
}
