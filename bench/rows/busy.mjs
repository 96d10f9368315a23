import { spawn } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { compare } from "../comparison.mjs";
import { interleave } from "../interleave.mjs";
import { withLargeWorkspace } from "../large-workspace.mjs";
import { timeCommand, timeToEnd } from "../timed-command.mjs";
import { timed } from "../timed.mjs";

const GOAL = { most: 3, text: "≤ 3" };

/** Reset and delete of a large workspace while somebody copies the same tree on the same disk. @param {import("../bench.mjs").Bench} bench */
export async function measureBusy(bench) {
  const { installation, rounds, seconds } = bench;
  const { cloche, directory } = installation;
  return await withLargeWorkspace(bench, async ({ project, workspaceId, edit }) => {
    const copy = join(directory, "large-copy");
    const copyMs = await timeToEnd(["cp", "-a", project, copy]);
    const disk = {
      quiet: (/** @type {() => Promise<number>} */ work) => work(),
      busy: (/** @type {() => Promise<number>} */ work) => whileCopying({ project, copy, copyMs }, work),
    };
    await makeQuiet(copy);
    /** @param {keyof typeof disk} state */
    const reset = (state) => async () => {
      await edit(workspaceId);
      const ms = await disk[state](() => timed(() => cloche.resetWorkspace(workspaceId)));
      await makeQuiet(copy);
      return ms;
    };
    /** @param {keyof typeof disk} state */
    const remove = (state) => async () => {
      const { workspace_id } = await cloche.createWorkspace({ environment: "host", seed_path: project });
      await edit(workspace_id);
      const ms = await disk[state](() => timed(() => cloche.deleteWorkspace(workspace_id)));
      await makeQuiet(copy);
      return ms;
    };
    const samples = await interleave({
      rounds: Math.max(3, Math.ceil(rounds / 2)),
      seconds,
      warmUp: 1,
      cases: {
        "reset, quiet": reset("quiet"),
        "reset, busy": reset("busy"),
        "delete, quiet": remove("quiet"),
        "delete, busy": remove("busy"),
      },
    });
    return ["reset", "delete"].map((verb) =>
      compare({
        what: `${verb} over 50,000 files during cp -a of them`,
        ours: samples[`${verb}, busy`] ?? [],
        peer: "on a quiet disk",
        peerSamples: samples[`${verb}, quiet`] ?? [],
        goal: GOAL,
        note: `in the middle of a cp -a that alone takes ${(copyMs / 1000).toFixed(1)} s`,
      }),
    );
  });
}

/**
 * Does something in the middle of a copy, which goes on until it is done.
 *
 * @param {{ project: string, copy: string, copyMs: number }} given @param {() => Promise<number>} work
 */
async function whileCopying({ project, copy, copyMs }, work) {
  const copying = spawn("cp", ["-a", project, copy], { stdio: ["ignore", "ignore", "inherit"] });
  const ended = once(copying, "exit");
  try {
    await setTimeout(copyMs / 2);
    const ms = await work();
    // A disk that was quiet in truth would look good.
    if (copying.exitCode !== null)
      throw new Error(`the copy ended before what it was to disturb, which took ${ms.toFixed(0)} ms`);
    return ms;
  } finally {
    copying.kill();
    await ended;
  }
}

/** What was copied is gone, and nothing waits to be written. @param {string} copy */
async function makeQuiet(copy) {
  rmSync(copy, { recursive: true, force: true });
  await timeCommand(["sync"]);
}
