import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { compare } from "../comparison.mjs";
import { commitAll } from "../git-commit.mjs";
import { interleave } from "../interleave.mjs";
import { timed } from "../timed.mjs";

const PACKAGES = 600;
const FILES = 61;
const EDITS = 10;
const FORKS = 10;
const OF_GIT = { most: 3, text: "≤ 3" };
/** Of the 55 seconds that it took when each fork copied, listed and read all dependencies. */
const WHOLE = { most: 1 / 5, text: "≤ 1/5" };
const WHOLE_BEFORE_MS = 55_000;

/**
 * A workspace with its dependencies installed, which the project ignores: what a diff and a summary cost, and a search in ten forks at once.
 *
 * @param {import("../bench.mjs").Bench} bench
 */
export async function measureForks({ installation: { cloche, directory }, rounds, seconds, say }) {
  say(`writing a project with ${PACKAGES * FILES} files of dependencies`);
  const project = await writeProject(join(directory, "installed-project"));
  const ws = await cloche.workspace({ environment: "host", seed_path: project });
  try {
    say("bringing the dependencies in");
    await cloche.pushWorkspaceSync(ws.id, join(project, "node_modules"), { dest: "node_modules" });
    const { exit_code } = await ws.exec(`for i in $(seq ${EDITS}); do echo edited >> src/file-$i.ts; done`);
    if (exit_code !== 0) throw new Error("the edit failed");
    const samples = await interleave({
      rounds: rounds * 2,
      seconds: seconds / 2,
      warmUp: 2,
      cases: {
        diff: () =>
          timed(async () => {
            const { summary } = await ws.diff();
            if (summary.total !== EDITS) throw new Error(`the diff has ${summary.total} changes`);
          }),
        summary: () => timed(() => ws.summary()),
        "git diff": () => timed(() => ws.exec(["git", "diff"])),
      },
    });
    const files = `${(PACKAGES * FILES).toLocaleString("en-US")} ignored files`;
    const peer = { peer: "git diff inside", peerSamples: samples["git diff"] ?? [], goal: OF_GIT };
    say(`${FORKS} forks at once`);
    const whole = [await timed(() => search(ws))];
    return [
      compare({ what: `diff after ${EDITS} edits beside ${files}`, ours: samples["diff"] ?? [], ...peer }),
      compare({ what: `summary after ${EDITS} edits beside ${files}`, ours: samples["summary"] ?? [], ...peer }),
      compare({
        what: `${FORKS} forks of it at once: patch, test, diff, summary, delete`,
        ours: whole,
        peer: "before",
        peerSamples: [WHOLE_BEFORE_MS],
        goal: WHOLE,
        note: "every diff is exactly the fork's own patch; before: each fork copied, listed and read all dependencies",
      }),
    ];
  } finally {
    await ws.delete();
  }
}

/** Ten attempts beside each other. @param {import("cloche").WorkspaceHandle} ws */
async function search(ws) {
  await Promise.all(
    Array.from({ length: FORKS }, async (_, index) => {
      const fork = await ws.fork({ rebase: true, name: `attempt-${index}` });
      try {
        const patch = `--- /dev/null\n+++ b/src/attempt.ts\n@@ -0,0 +1 @@\n+export const attempt = ${index};\n`;
        await fork.patch(patch);
        const { exit_code } = await fork.exec("test -f node_modules/package-7/file-7.js && echo ran > test.log");
        const diff = await fork.diff();
        const { changes } = await fork.summary();
        const isOwn =
          diff.entries.length === 1 && diff.patch.includes(`attempt = ${index};`) && diff.ignored_count === 1;
        if (exit_code !== 0 || !isOwn || changes.summary.total !== 1)
          throw new Error(`fork ${index} has ${diff.patch}`);
      } finally {
        await fork.delete();
      }
    }),
  );
}

/** @param {string} project */
async function writeProject(project) {
  mkdirSync(join(project, "src"), { recursive: true });
  for (let file = 0; file < 300; file++) writeFileSync(join(project, `src/file-${file}.ts`), "export {};\n".repeat(40));
  writeFileSync(join(project, ".gitignore"), "node_modules/\n*.log\n");
  await commitAll(project);
  for (let one = 0; one < PACKAGES; one++) {
    const folder = join(project, `node_modules/package-${one}`);
    mkdirSync(folder, { recursive: true });
    for (let file = 0; file < FILES; file++)
      writeFileSync(join(folder, `file-${file}.js`), `${one} ${file}\n`.repeat(8));
  }
  return project;
}
