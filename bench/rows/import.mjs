import { appendFileSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { compare } from "../comparison.mjs";
import { commitAll } from "../git-commit.mjs";
import { interleave } from "../interleave.mjs";
import { timeCommand, timeToEnd } from "../timed-command.mjs";

const PACKAGES = 800;
const FILES = 50;
/** 40,000 files with a gigabyte: most are small, as dependencies are. */
const SIZES = [200, 700, 1500, 3000, 6000, 12_000, 25_000, 60_000, 120_000, 20_000];
const GOAL = { most: 1.1, text: "≤ 1.1" };

/**
 * What brings all of a project in, with its dependencies, for the first time: a copy of every file that is checked, hashed by its state and put in place whole.
 *
 * @param {import("../bench.mjs").Bench} bench
 */
export async function measureImport({ installation: { cloche, directory }, seconds, say }) {
  say("writing a project with a gigabyte of dependencies");
  const project = await writeProject(join(directory, "dependent-project"));
  const target = join(directory, "unpacked");
  const samples = await interleave({
    rounds: 3,
    seconds,
    warmUp: 1,
    cases: {
      ours: async () => {
        appendFileSync(join(project, "src/index.ts"), "// another state\n");
        await settle();
        const start = performance.now();
        const { workspace_id } = await cloche.createWorkspace({
          environment: "host",
          seed_path: project,
          include_ignored: true,
        });
        const elapsed = performance.now() - start;
        await cloche.deleteWorkspace(workspace_id);
        return elapsed;
      },
      tar: async () => {
        mkdirSync(target);
        await settle();
        const elapsed = await timeToEnd(["sh", "-c", `tar -C "${project}" -cf - . | tar -C "${target}" -xf -`]);
        rmSync(target, { recursive: true });
        return elapsed;
      },
    },
  });
  rmSync(project, { recursive: true });
  return [
    compare({
      what: `first import of ${(PACKAGES * FILES).toLocaleString("en-US")} ignored files, 1 GB`,
      ours: samples["ours"] ?? [],
      peer: "tar | tar",
      peerSamples: samples["tar"] ?? [],
      goal: GOAL,
      note: "a new workspace with all of it, scanned, copied and started; the tar pipe copies the same files from one folder to another",
    }),
  ];
}

/** What the one before has written goes to the disk first: the next must not wait for that. */
const settle = () => timeCommand(["sync"]);

/** @param {string} project */
async function writeProject(project) {
  mkdirSync(join(project, "src"), { recursive: true });
  writeFileSync(join(project, "src/index.ts"), "export {};\n");
  writeFileSync(join(project, ".gitignore"), "node_modules/\n");
  await commitAll(project);
  for (let one = 0; one < PACKAGES; one++) {
    const folder = join(project, `node_modules/package-${one}`);
    mkdirSync(folder, { recursive: true });
    for (let file = 0; file < FILES; file++)
      writeFileSync(
        join(folder, `file-${file}.js`),
        `${one} ${file}\n`.padEnd(SIZES[file % SIZES.length] ?? 0, "content "),
      );
  }
  return project;
}
