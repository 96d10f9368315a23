import { createHash } from "node:crypto";
import { lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { interleave } from "../interleave.mjs";
import { largeProject, PROJECT_FILES } from "../project-tree.mjs";
import { median, p99 } from "../statistics.mjs";
import { timeToEnd } from "../timed-command.mjs";

/** @param {import("../bench.mjs").Bench} bench @returns {Promise<import("../table.mjs").Row[]>} */
export async function measureProject({ installation: { cloche, directory }, rounds, seconds, say }) {
  const project = largeProject(directory, say);
  const create = (/** @type {string | undefined} */ seed_path) => async () => {
    const start = performance.now();
    const { workspace_id } = await cloche.createWorkspace({
      environment: "host",
      ...(seed_path !== undefined && { seed_path }),
    });
    const elapsed = performance.now() - start;
    await cloche.deleteWorkspace(workspace_id);
    return elapsed;
  };
  say("importing it");
  const importMs = await create(project)();
  const samples = await interleave({
    rounds: Math.max(3, Math.ceil(rounds / 2)),
    seconds,
    warmUp: 1,
    cases: {
      project: create(project),
      empty: create(undefined),
      find: () => timeToEnd(["find", project, "-printf", "%p %y %m %s %T@ %i\\n"]),
      node: () => Promise.resolve(scanWithNode(project)),
    },
  });
  const { project: ours = [], empty = [], find = [], node = [] } = samples;
  // The scan that counts is one in the daemon's own language; what `find` takes is shown beside it.
  const allowed = 2 * median(empty) + median(node);
  return [
    {
      what: `create from ${PROJECT_FILES / 1000},000 imported files`,
      unit: "ms",
      ours_p50: median(ours),
      ours_p99: p99(ours),
      peer: "2 × empty + scan",
      peer_p50: allowed,
      ratio: median(ours) / allowed,
      goal: "≤ 1",
      holds: median(ours) <= allowed,
      note:
        `empty ${median(empty).toFixed(1)} ms, scan ${median(node).toFixed(0)} ms (in Node), ${median(find).toFixed(0)} ms (find); ` +
        `against find the ratio is ${(median(ours) / (2 * median(empty) + median(find))).toFixed(2)}; the first import took ${(importMs / 1000).toFixed(1)} s`,
      details: { import_ms: importMs, ...samples },
    },
  ];
}

/** The least that tells one state of a project from another: every folder read, every file looked at, one digest. @param {string} project */
function scanWithNode(project) {
  const start = performance.now();
  const digest = createHash("sha256");
  const pending = [project];
  let count = 0;
  for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
    let text = "";
    for (const name of readdirSync(folder).sort()) {
      const path = join(folder, name);
      const stats = lstatSync(path, { bigint: true });
      if (stats.isDirectory()) pending.push(path);
      else count++;
      text += `${path} ${stats.mode} ${stats.size} ${stats.mtimeNs} ${stats.ctimeNs} ${stats.ino}\n`;
    }
    digest.update(text);
  }
  if (count !== PROJECT_FILES || digest.digest().length === 0) throw new Error(`the project has ${count} files`);
  return performance.now() - start;
}
