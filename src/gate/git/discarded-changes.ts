import { StreamReader } from "../../base/stream-reader.ts";
import { type PushFailure, failed } from "../../policy/git/push-failure.ts";
import type { PathRules } from "../../policy/git/ref-rules.ts";
import { shownName } from "../../policy/git/shown-name.ts";
import type { Examined } from "./examined-push.ts";
import { PackRefused } from "./quarantine.ts";
import type { Parents } from "./ref-facts.ts";

const EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";
/** Each of them is compared by itself. */
const MAX_MERGES = 500;
/** Denied paths in which one merge and its parents differ. */
const MAX_DIFFERENCES = 100_000;
const MAX_TOLD = 1000;
const NUL = 0x00;
const NEWLINE = 0x0a;
const COLON = 0x3a;
const MAX_LINE = 64 * 1024;

/**
 * Paths that the rules refuse, for which a merge drops what a parent has changed since the histories of its parents met, and takes the version of another parent.
 * The list of what a merge has that none of its parents has does not tell of that.
 *
 * SECURITY: a path that may not be changed is not set back to an older version, or to that of another branch, by a merge (G-170)
 */
export async function judgeMerges(push: Examined, parents: Parents, rules: PathRules): Promise<PushFailure[]> {
  if (!rules.judgesPaths) return [];
  const merges = [...parents].filter(([, of]) => of.length > 1);
  if (merges.length > MAX_MERGES)
    return [failed("paths", `it has ${merges.length} merges, and at most ${MAX_MERGES} are looked at; push fewer`)];
  const failures: PushFailure[] = [];
  for (const [id, of] of merges)
    for (const path of await discarded(push, id, of, rules))
      if (failures.length < MAX_TOLD) {
        const shown = shownName(push.scan.redactText("path", path).value);
        failures.push(failed("paths", `${shown} in commit ${id.slice(0, 12)}: ${rules.problemOf(path) ?? ""}`));
      }
  return failures;
}

async function discarded(
  push: Examined,
  merge: string,
  parents: readonly string[],
  rules: PathRules,
): Promise<ReadonlySet<string>> {
  const bases = await basesOf(push, parents);
  const trees = await treesOf(push, [merge, ...parents, ...bases]);
  const [own = "", ...others] = trees;
  const [ofParents, ofBases] = [others.slice(0, parents.length), others.slice(parents.length)];
  const differ = await compare(push, own, ofParents, ofBases, rules);
  const dropped = ofParents.flatMap((parent) =>
    [...differ(own, parent)].filter((path) => ofBases.every((base) => differ(base, parent).has(path))),
  );
  return new Set(dropped);
}

/** Where the histories met last: in more than one place where they cross, and nowhere where they never did. */
async function basesOf({ git, quarantine, signal }: Examined, parents: readonly string[]): Promise<string[]> {
  const words = ["merge-base", "--all", "--octopus", ...parents];
  const { code, stdout, said } = await git.run(words, { ...quarantine.both, signal });
  // It ends with 1 where there is none.
  if (code !== 0 && code !== 1)
    throw new PackRefused(`git does not find where a merge began: ${said.trim().slice(-200)}`);
  const bases = stdout.toString().split("\n").filter(Boolean);
  return bases.length > 0 ? bases : [EMPTY_TREE];
}

async function treesOf({ git, quarantine, signal }: Examined, ids: readonly string[]): Promise<string[]> {
  const input = ids.map((id) => `${id}^{tree}\n`).join("");
  const { stdout } = await git.run(["cat-file", "--batch-check=%(objectname)"], { ...quarantine.both, signal, input });
  return stdout.toString().trim().split("\n");
}

/** Of each parent, the refused paths in which it differs from the merge and from each base. */
async function compare(
  { git, quarantine, signal }: Examined,
  merge: string,
  parents: readonly string[],
  bases: readonly string[],
  rules: PathRules,
): Promise<(one: string, parent: string) => ReadonlySet<string>> {
  const pairs = new Set(parents.flatMap((parent) => [merge, ...bases].map((one) => `${one} ${parent}`)));
  const found = new Map<string, Set<string>>();
  const words = ["diff-tree", "--stdin", "-r", "-z", "--raw", "--no-renames", "--no-abbrev"];
  const input = [...pairs].map((pair) => `${pair}\n`).join("");
  const running = git.start(words, { ...quarantine.both, signal, input });
  const reader = new StreamReader(running.stdout);
  let paths = new Set<string>();
  let count = 0;
  try {
    for (let next = await reader.byte(); next !== undefined; next = await reader.byte()) {
      if (next !== COLON) {
        // The two trees, before what they differ in.
        const rest = (await reader.until(NEWLINE, MAX_LINE)).toString("latin1");
        found.set(String.fromCharCode(next) + rest, (paths = new Set()));
        continue;
      }
      await reader.until(NUL, MAX_LINE);
      const path = (await reader.until(NUL, MAX_LINE)).toString("utf8");
      if (rules.problemOf(path) === undefined) continue;
      if (++count > MAX_DIFFERENCES)
        throw new PackRefused(`a merge of it differs in more than ${MAX_DIFFERENCES} paths`);
      paths.add(path);
    }
  } finally {
    running.kill();
  }
  const { code } = await running.ended;
  // SECURITY: what git did not compare is not taken for the same (G-170)
  if (code !== 0 || found.size < pairs.size) throw new PackRefused("git cannot compare its merges");
  return (one, parent) => found.get(`${one} ${parent}`) ?? new Set();
}
