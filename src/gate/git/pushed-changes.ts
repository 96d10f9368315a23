import { StreamReader } from "../../base/stream-reader.ts";
import type { HostGit } from "./host-git.ts";
import { PackRefused, type Quarantine } from "./quarantine.ts";

const START = 0x01;
const NUL = 0x00;
const COLON = 0x3a;
const MAX_PATH = 64 * 1024;

export interface PushedChange {
  readonly commit: string;
  readonly path: string;
  /** What is there afterwards; undefined when it was removed. */
  readonly blob: string | undefined;
}

/** Each file that a commit of the push changes, newest commit first. A merge tells what is in none of its parents. */
export async function* pushedChanges(
  git: HostGit,
  quarantine: Quarantine,
  tips: readonly string[],
  signal: AbortSignal,
): AsyncGenerator<PushedChange> {
  const words = [
    "log",
    "--raw",
    "-z",
    "-c",
    "--root",
    "--no-abbrev",
    "--no-renames",
    "--no-notes",
    "--format=%x01%H%x00",
    "--stdin",
    "--not",
    "--all",
    "--",
  ];
  const running = git.start(words, { ...quarantine.both, signal, input: tips.map((tip) => `${tip}\n`).join("") });
  const reader = new StreamReader(running.stdout);
  let commit = "";
  try {
    for (let next = await reader.byte(); next !== undefined; next = await reader.byte()) {
      if (next === START) commit = (await reader.until(NUL, 64)).toString("latin1");
      else if (next === COLON) {
        const facts = (await reader.until(NUL, 4096)).toString("latin1");
        const parents = /^:*/.exec(facts)?.[0].length ?? 0;
        const words = facts.slice(parents).split(" ");
        // MODE of each parent and of the result, then ID of each, then what happened.
        const blob = words[2 * (parents + 2) - 1] ?? "";
        const path = (await reader.until(NUL, MAX_PATH)).toString("utf8");
        yield { commit, path, blob: /^0+$/.test(blob) ? undefined : blob };
      }
    }
  } finally {
    running.kill();
  }
  const { code, said } = await running.ended;
  if (code !== 0) throw new PackRefused(`git cannot list its changes: ${said.trim().slice(-200)}`);
}
