import { rmSync } from "node:fs";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { compare } from "../comparison.mjs";
import { interleave } from "../interleave.mjs";
import { EDITS, withLargeWorkspace } from "../large-workspace.mjs";
import { median } from "../statistics.mjs";
import { timeToEnd } from "../timed-command.mjs";
import { timed } from "../timed.mjs";

const OF_COPY = { most: 1 / 50, text: "≤ 1/50" };
const OF_CREATE = { most: 2, text: "≤ 2" };
const SAVED = "edited";

/** Snapshot, reset and fork of a large workspace with few changes. @param {import("../bench.mjs").Bench} bench */
export async function measureSnapshot(bench) {
  const { installation, rounds, seconds } = bench;
  const { cloche, directory } = installation;
  return await withLargeWorkspace(bench, async ({ project, workspaceId, edit }) => {
    await cloche.createSnapshot(workspaceId, SAVED);
    const copy = join(directory, "large-copy");
    const samples = await interleave({
      rounds: Math.max(3, Math.ceil(rounds / 2)),
      seconds,
      warmUp: 1,
      cases: {
        snapshot: () => snapshot(cloche, workspaceId),
        reset: async () => {
          const elapsed = await timed(() => cloche.resetWorkspace(workspaceId));
          await edit(workspaceId); // as it was, for the cases that follow
          return elapsed;
        },
        resetToSaved: async () => {
          const elapsed = await timed(() => cloche.resetWorkspace(workspaceId, { snapshot: SAVED }));
          await cloche.resetWorkspace(workspaceId);
          await edit(workspaceId);
          return elapsed;
        },
        fork: () => firstOutput(cloche, () => cloche.forkWorkspace(workspaceId)),
        create: () => firstOutput(cloche, () => cloche.createWorkspace({ environment: "host", seed_path: project })),
        createOnly: () => createOnly(cloche, project),
        empty: () => firstOutput(cloche, () => cloche.createWorkspace({ environment: "host" })),
        "cp -a": async () => {
          const elapsed = await timeToEnd(["cp", "-a", project, copy]);
          rmSync(copy, { recursive: true });
          return elapsed;
        },
      },
    });
    const of = (/** @type {string} */ name) => samples[name] ?? [];
    const tree = `50,000 files, ${EDITS} changed`;
    const peerCopy = { peer: "cp -a", peerSamples: of("cp -a"), goal: OF_COPY };
    const saved = `to a snapshot of those changes it takes ${median(of("resetToSaved")).toFixed(1)} ms`;
    return [
      compare({ what: `snapshot of ${tree}`, ours: of("snapshot"), ...peerCopy }),
      compare({ what: `reset of ${tree}`, ours: of("reset"), ...peerCopy, note: `to the baseline; ${saved}` }),
      compare({
        what: `reset of ${tree}, as create`,
        ours: of("reset"),
        peer: "create",
        peerSamples: of("createOnly"),
        goal: OF_CREATE,
      }),
      compare({
        what: `fork of ${tree} → first output`,
        ours: of("fork"),
        peer: "create → output",
        peerSamples: of("create"),
        goal: OF_CREATE,
        note: `of the live workspace; create is from the same folder, imported before, which is scanned anew; an empty workspace takes ${median(of("empty")).toFixed(1)} ms`,
      }),
    ];
  });
}

/** @param {import("../installation.mjs").Cloche} cloche @param {string} workspaceId */
async function snapshot(cloche, workspaceId) {
  const elapsed = await timed(() => cloche.createSnapshot(workspaceId, "timed"));
  await cloche.deleteSnapshot(workspaceId, "timed");
  return elapsed;
}

/** @param {import("../installation.mjs").Cloche} cloche @param {() => Promise<{ workspace_id: string }>} make */
async function firstOutput(cloche, make) {
  const start = performance.now();
  const { workspace_id } = await make();
  const { stdout } = await cloche.execWorkspace(workspace_id, { command: ["echo", "ready"] });
  const elapsed = performance.now() - start;
  await cloche.deleteWorkspace(workspace_id);
  if (stdout !== "ready\n") throw new Error(`a new workspace printed ${JSON.stringify(stdout)}`);
  return elapsed;
}

/** @param {import("../installation.mjs").Cloche} cloche @param {string} project */
async function createOnly(cloche, project) {
  const start = performance.now();
  const { workspace_id } = await cloche.createWorkspace({ environment: "host", seed_path: project });
  const elapsed = performance.now() - start;
  await cloche.deleteWorkspace(workspace_id);
  return elapsed;
}
