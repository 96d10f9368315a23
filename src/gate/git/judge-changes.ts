import { type PushFailure, failed } from "../../policy/git/push-failure.ts";
import type { PathRules } from "../../policy/git/ref-rules.ts";
import { shownName } from "../../policy/git/shown-name.ts";
import { judgeMerges } from "./discarded-changes.ts";
import type { Examined } from "./examined-push.ts";
import { MAX_CHANGES } from "./limits.ts";
import { PathTexts } from "./path-texts.ts";
import { readChanges } from "./pushed-changes.ts";
import type { ObjectFinding, PushedObjects } from "./pushed-objects.ts";
import { PackRefused } from "./quarantine.ts";
import type { Parents } from "./ref-facts.ts";

const MAX_TOLD_PATHS = 1000;

export interface JudgedChanges {
  readonly failures: readonly PushFailure[];
  readonly parents: Parents;
}

/** What the rules and the scan say about the paths of every commit. */
export async function judgePaths(push: Examined, tips: readonly string[], rules: PathRules): Promise<JudgedChanges> {
  const { git, quarantine, scan, repo, signal } = push;
  const parents = new Map<string, readonly string[]>();
  const paths = new Map<string, string>();
  const texts = new PathTexts(scan, repo.allowed_findings);
  let count = 0;
  await readChanges(git, quarantine, tips, signal, {
    commit: (id, of) => parents.set(id, of),
    change({ path, commit }) {
      // SECURITY: a few trees that hold each other many times are more paths than anybody could read (G-87)
      if (++count > MAX_CHANGES) throw new PackRefused(`its commits change more than ${MAX_CHANGES} paths`);
      if (paths.size < MAX_TOLD_PATHS && rules.problemOf(path) !== undefined) paths.set(path, commit);
      texts.add(path, commit);
    },
  });
  const shown = (text: string) => shownName(scan.redactText("path", text).value);
  const denied = [...paths].map(([path, commit]) =>
    failed("paths", `${shown(path)} in commit ${commit.slice(0, 12)}: ${rules.problemOf(path) ?? ""}`),
  );
  const merged = await judgeMerges(push, parents, rules);
  return { failures: [...denied, ...merged, ...texts.failures(shown)], parents };
}

/** What was found in objects, with the file and the commit that brought it in. Only then they are looked up. */
export async function tellFound(
  push: Examined,
  tips: readonly string[],
  rules: PathRules,
  objects: PushedObjects,
): Promise<PushFailure[]> {
  const { git, quarantine, scan, signal } = push;
  const { findings, more } = objects;
  const wanted = new Set([...findings.map(({ id }) => id), ...objects.large.keys()]);
  if (wanted.size === 0) return [];
  const where = new Map<string, { path: string; commit: string }>();
  await readChanges(git, quarantine, tips, signal, {
    change({ commit, path, blob }) {
      // The newest comes first, so the one that brought it in is the last that is told.
      if (blob !== undefined && wanted.has(blob)) where.set(blob, { path, commit });
    },
  });
  const shown = (text: string) => shownName(scan.redactText("path", text).value);
  return [
    ...[...objects.large].map(([id, size]) => {
      const { path, commit } = where.get(id) ?? { path: `object ${id}`, commit: "" };
      return failed("paths", `${shown(path)} in commit ${commit.slice(0, 12)}: ${rules.sizeProblem(size) ?? ""}`);
    }),
    ...findings.map((one) => failed("secrets", findingText(one, where.get(one.id), shown))),
    ...(more > 0 ? [failed("secrets", `there are ${more} findings more than those`)] : []),
  ];
}

function findingText(
  { id, type, finding }: ObjectFinding,
  place: { path: string; commit: string } | undefined,
  shown: (text: string) => string,
): string {
  const { rule, name, line, view, fingerprint } = finding;
  const what = name === undefined ? rule : `${rule} ${name}`;
  const how = view === "raw" ? "" : ` (${view})`;
  const at =
    type === "blob"
      ? place
        ? `${shown(place.path)}:${line}, commit ${place.commit.slice(0, 12)}`
        : `object ${id.slice(0, 12)}, line ${line}`
      : `the text of ${type} ${id.slice(0, 12)}, line ${line}`;
  return `${what}${how} in ${at}; fingerprint ${fingerprint}`;
}
