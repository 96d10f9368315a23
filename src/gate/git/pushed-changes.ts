import { StreamReader } from "../../base/stream-reader.ts";
import type { HostGit } from "./host-git.ts";
import { PackRefused, type Quarantine } from "./quarantine.ts";

const START = 0x01;
const NUL = 0x00;
const COLON = 0x3a;
const MAX_PATH = 64 * 1024;
/** Of what names all parents of a commit. */
const MAX_COMMIT_LINE = 64 * 1024;

export interface PushedChange {
  readonly commit: string;
  readonly path: string;
  /** What is there afterwards; undefined when it was removed. */
  readonly blob: string | undefined;
}

export interface ChangeReader {
  commit?(id: string, parents: readonly string[]): void;
  change(change: PushedChange): void;
}

/** Each commit of the push, newest first, and each file that it changes. A merge tells what is in none of its parents. */
export async function readChanges(
  git: HostGit,
  quarantine: Quarantine,
  tips: readonly string[],
  signal: AbortSignal,
  into: ChangeReader,
): Promise<void> {
  const words = [
    "log",
    "--raw",
    "-z",
    "-c",
    "--root",
    "--no-abbrev",
    "--no-renames",
    "--no-notes",
    "--format=%x01%H %P%x00",
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
      if (next === START) {
        const [id = "", ...parents] = (await reader.until(NUL, MAX_COMMIT_LINE)).toString("latin1").trim().split(" ");
        commit = id;
        into.commit?.(id, parents);
      } else if (next === COLON) {
        const facts = (await reader.until(NUL, MAX_COMMIT_LINE)).toString("latin1");
        const parents = /^:*/.exec(facts)?.[0].length ?? 0;
        const words = facts.slice(parents).split(" ");
        // MODE of each parent and of the result, then ID of each, then what happened.
        const blob = words[2 * (parents + 2) - 1] ?? "";
        const path = (await reader.until(NUL, MAX_PATH)).toString("utf8");
        into.change({ commit, path, blob: /^0+$/.test(blob) ? undefined : blob });
      }
    }
  } finally {
    running.kill();
  }
  const { code, said } = await running.ended;
  if (code !== 0) throw new PackRefused(`git cannot list its changes: ${said.trim().slice(-200)}`);
}
