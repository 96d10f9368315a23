import { rmSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { performance } from "node:perf_hooks";
import { compare } from "../comparison.mjs";
import { interleave } from "../interleave.mjs";
import { EDITS, editCommand, withLargeWorkspace } from "../large-workspace.mjs";
import { timeCommand } from "../timed-command.mjs";

const GOAL = { most: 1, text: "≤ 1" };

/** @param {import("../bench.mjs").Bench} bench */
export async function measureDiff(bench) {
  const { installation, rounds, seconds, say } = bench;
  const { cloche, directory } = installation;
  return await withLargeWorkspace(bench, async ({ project, workspaceId }) => {
    say("committing it to git");
    const checkout = join(directory, "large-checkout");
    await makeCheckout(project, checkout);
    const samples = await interleave({
      rounds: rounds * 2,
      seconds,
      warmUp: 3,
      cases: {
        ours: async () => {
          const start = performance.now();
          const { summary } = await cloche.diffWorkspace(workspaceId);
          const elapsed = performance.now() - start;
          if (summary.modified !== EDITS) throw new Error(`the diff has ${summary.modified} modified files`);
          return elapsed;
        },
        "git status": async () => {
          const { endMs, stdout } = await timeCommand(["git", "-C", checkout, "status", "--porcelain"]);
          if (stdout.trim().split("\n").length !== EDITS) throw new Error(`git status says ${stdout}`);
          return endMs;
        },
      },
    });
    rmSync(checkout, { recursive: true });
    return [
      compare({
        what: `diff after ${EDITS} edits in 50,000 files`,
        ours: samples["ours"] ?? [],
        peer: "git status",
        peerSamples: samples["git status"] ?? [],
        goal: GOAL,
        note: "through the SDK, with the patches; git status is a process on the host and gives names only",
      }),
    ];
  });
}

/** The same files and the same edits, in a repository on the host. @param {string} project @param {string} checkout */
async function makeCheckout(project, checkout) {
  // Nobody's own git configuration takes part.
  process.env["GIT_CONFIG_GLOBAL"] = "/dev/null";
  process.env["GIT_CONFIG_NOSYSTEM"] = "1";
  const git = ["git", "-C", checkout, "-c", "user.name=bench", "-c", "user.email=bench@localhost", "-c", "gc.auto=0"];
  await timeCommand(["cp", "-a", project, checkout]);
  await timeCommand([...git, "init", "--quiet"]);
  await timeCommand([...git, "add", "--all"]);
  await timeCommand([...git, "commit", "--quiet", "--message", "all"]);
  await timeCommand(editCommand(checkout));
}
