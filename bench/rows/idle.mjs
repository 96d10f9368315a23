import { readdirSync } from "node:fs";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { sandboxPids } from "../leftovers.mjs";
import { descendants, proportionalKib, residentKib } from "../processes.mjs";

const COUNT = 20;
const GOAL_MIB = 5;

/** @param {import("../bench.mjs").Bench} bench @returns {Promise<import("../table.mjs").Row[]>} */
export async function measureIdle({ installation }) {
  const { cloche, daemonPid } = installation;
  await createTogether(installation); // what the first crowd costs once is no workspace's share
  const daemon = await daemonPid();
  const before = { resident: residentKib(daemon), processes: new Set(descendants(daemon)) };
  const crowd = await createTogether(installation, () => {
    const own = descendants(daemon).filter((pid) => !before.processes.has(pid));
    const walls = own.reduce((sum, pid) => sum + proportionalKib(pid), 0);
    return { processes: own.length, walls_kib: walls, daemon_kib: Math.max(0, residentKib(daemon) - before.resident) };
  });
  const { list, left } = await whatIsLeft(cloche, installation, before.processes);
  const { memory } = crowd;
  if (memory === undefined) throw new Error("memory was not measured");
  const each = (memory.walls_kib + memory.daemon_kib) / COUNT / 1024;
  const blank = { peer: "-", peer_p50: null, ratio: null };
  return [
    {
      ...blank,
      what: "idle workspace, memory",
      unit: "MiB",
      ours_p50: each,
      ours_p99: null,
      goal: `≤ ${GOAL_MIB} MiB`,
      holds: each <= GOAL_MIB,
      note:
        `of ${COUNT}: ${(memory.walls_kib / COUNT / 1024).toFixed(2)} MiB in ${memory.processes / COUNT} processes (PSS), ` +
        `${(memory.daemon_kib / COUNT / 1024).toFixed(2)} MiB growth of the daemon (RSS)`,
      details: memory,
    },
    {
      ...blank,
      what: `${COUNT} created at once`,
      unit: "ms",
      ours_p50: crowd.createMs,
      ours_p99: null,
      goal: "all work, all go",
      holds: crowd.working === COUNT && list === 0 && left.length === 0,
      note: `${crowd.working} of ${COUNT} answered; deleted in ${crowd.deleteMs.toFixed(0)} ms; left: ${list} listed, ${left.length === 0 ? "nothing else" : left.join(", ")}`,
      details: { delete_ms: crowd.deleteMs, left },
    },
  ];
}

/**
 * @template T @param {import("../installation.mjs").Installation} installation @param {() => T} [look] while they idle
 */
async function createTogether({ cloche }, look) {
  const start = performance.now();
  const made = await Promise.all(
    Array.from({ length: COUNT }, async () => await cloche.createWorkspace({ environment: "host" })),
  );
  const createMs = performance.now() - start;
  const memory = look?.();
  const answers = await Promise.all(
    made.map(async ({ workspace_id }) => await cloche.execWorkspace(workspace_id, { command: "hostname" })),
  );
  const working = answers.filter(
    ({ exit_code, stdout, workspace_id }) => exit_code === 0 && stdout.trim() === workspace_id,
  ).length;
  const beforeDelete = performance.now();
  await Promise.all(made.map(async ({ workspace_id }) => await cloche.deleteWorkspace(workspace_id)));
  return { createMs, deleteMs: performance.now() - beforeDelete, working, memory };
}

/** @param {import("../installation.mjs").Cloche} cloche @param {import("../installation.mjs").Installation} installation @param {Set<number>} known */
async function whatIsLeft(cloche, installation, known) {
  const { count } = await cloche.listWorkspaces();
  const daemon = await installation.daemonPid();
  const processes = [...descendants(daemon), ...sandboxPids(installation)].filter(
    (pid) => pid !== daemon && !known.has(pid),
  );
  const folders = readdirSync(join(installation.home, "workspaces"));
  return {
    list: count,
    left: [...processes.map((pid) => `process ${pid}`), ...folders.map((name) => `folder ${name}`)],
  };
}
