import { performance } from "node:perf_hooks";
import { compare } from "../comparison.mjs";
import { interleave } from "../interleave.mjs";
import { descendants, openFiles, residentKib } from "../processes.mjs";

const GOAL = { most: 1 / 30, text: "≤ 1/30" };
const EXECS_PER_ROUND = 25;
const LEAK_EXECS = 1000;
/** Garbage that was not collected yet looks like growth: this much is none. */
const LEAK_MIB = 8;

/** @param {import("../bench.mjs").Bench} bench */
export async function measureExec({ installation: { cloche, daemonPid }, docker, rounds }) {
  const { workspace_id } = await cloche.createWorkspace({ environment: "host" });
  const exec = async () => {
    const start = performance.now();
    const { exit_code } = await cloche.execWorkspace(workspace_id, { command: ["true"] });
    if (exit_code !== 0) throw new Error(`"true" ended with ${exit_code}`);
    return performance.now() - start;
  };
  await docker.startIdle();
  const samples = await interleave({
    rounds,
    warmUp: 2,
    cases: { ours: () => inARow(EXECS_PER_ROUND, exec), "docker exec": docker.exec },
  });
  const row = compare({
    what: "exec true",
    ours: samples["ours"] ?? [],
    peer: "docker exec",
    peerSamples: samples["docker exec"] ?? [],
    goal: GOAL,
  });
  const leak = await measureLeak(await daemonPid(), exec);
  await cloche.deleteWorkspace(workspace_id);
  return [row, leak];
}

/** @param {number} count @param {() => Promise<number>} measure */
async function inARow(count, measure) {
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
  await inARow(LEAK_EXECS / 4, exec); // what is made once is no leak
  const before = look();
  await inARow(LEAK_EXECS, exec);
  const after = look();
  const grown = (after.resident_kib - before.resident_kib) / 1024;
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
    note: `${files} more fds (now ${after.files}), ${processes} more processes, ${grown.toFixed(1)} MiB more resident (now ${(after.resident_kib / 1024).toFixed(0)} MiB)`,
    details: { before, after },
  };
}
