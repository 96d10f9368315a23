import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, URL } from "node:url";
import { compare } from "../comparison.mjs";
import { interleave } from "../interleave.mjs";
import { timeCommand, timeToEnd } from "../timed-command.mjs";
import { timed } from "../timed.mjs";

const CHECKOUT = fileURLToPath(new URL("../../", import.meta.url));
/** What it takes to compile and to type-check this project. */
const PARTS = [
  ...["package.json", "tsconfig.json", "vitest.config.ts"],
  ...["guest", "src", "test", "scripts", "node_modules"],
];
const FILES = 20_000;

/** @type {{ what: string, prepare: string, command: string, goal?: { most: number, text: string } }[]} */
const WORK = [
  {
    what: "compile of the guest program (C)",
    prepare: "rm -rf build",
    command: "make --silent --jobs=2 --directory=guest",
  },
  {
    what: "type-check of this project",
    prepare: ":",
    command: "node_modules/typescript/bin/tsc -p tsconfig.json",
    goal: { most: 1.1, text: "≤ 1.1" },
  },
  {
    what: `write and read of ${FILES / 1000},000 small files`,
    prepare: "rm -rf small && mkdir small",
    command: `i=0; while [ $i -lt ${FILES} ]; do echo "content of $i" >small/$i; i=$((i + 1)); done; cat small/* >/dev/null`,
  },
];

/** Work as people have it, in a workspace with the defaults and on the host, on the same disk. @param {import("../bench.mjs").Bench} bench */
export async function* measureWork({ installation: { cloche, directory }, rounds, seconds, say }) {
  const folder = join(directory, "work");
  say("copying this project");
  mkdirSync(folder);
  await timeCommand(["cp", "-a", ...PARTS.map((part) => join(CHECKOUT, part)), folder]);
  const { workspace_id } = await cloche.createWorkspace({ environment: "host", seed_path: folder });
  /** @param {string} command */
  const native = (command) => ["sh", "-c", `cd "$0" && { ${command}; }`, folder];
  /** @param {string} command */
  const inside = async (command) => {
    const { exit_code, stdout, stderr } = await cloche.execWorkspace(workspace_id, { command, timeout_seconds: 300 });
    if (exit_code !== 0) throw new Error(`"${command}" ended with ${exit_code}: ${(stdout + stderr).slice(-500)}`);
  };
  for (const { what, prepare, command, goal } of WORK) {
    say(what);
    const samples = await interleave({
      rounds: Math.max(3, Math.ceil(rounds / 4)),
      seconds: seconds / WORK.length,
      warmUp: 0, // the median of three leaves a slow first one out, and a round takes long
      cases: {
        inside: async () => {
          await inside(prepare);
          return await timed(() => inside(command));
        },
        native: async () => {
          await timeCommand(native(prepare));
          return await timeToEnd(native(command));
        },
      },
    });
    yield compare({
      what: `${what}, inside`,
      ours: samples["inside"] ?? [],
      peer: "on the host",
      peerSamples: samples["native"] ?? [],
      ...(goal && { goal }),
    });
  }
  await cloche.deleteWorkspace(workspace_id);
  rmSync(folder, { recursive: true });
}
