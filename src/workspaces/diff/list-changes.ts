import type { ChangesAsked, FileChange, GuestEntry, GuestFiles } from "../../guest/files.ts";
import { protocolError } from "../../guest/protocol-error.ts";
import type { IgnoreMatcher } from "../../policy/ignore-rules.ts";

/** Of all entries that a sandbox tells of for one diff. */
const MAX_CHANGES = 100_000;
/** Folders within folders are asked for level by level; what is deeper is asked for at once. */
const MAX_ROUNDS = 24;

export interface ChangesWanted {
  /** How many layers over the baseline belong to what is compared with. */
  readonly layers: number;
  /** What the project ignores; undefined when all is to be shown. */
  readonly rules: IgnoreMatcher | undefined;
  /** Relative to `/workspace`; all of it when there are none. */
  readonly paths: readonly Buffer[];
  readonly signal?: AbortSignal | undefined;
}

export interface ListedChanges {
  readonly changes: readonly FileChange[];
  /** Counted while the changes are read. */
  readonly ignoredCount: Promise<number>;
}

/**
 * What changed, without what the project ignores. The guest program stops at folders that the baseline does not have. Those that are ignored are counted there,
 * and nothing in them is looked at or sent.
 */
export async function listChanges(files: GuestFiles, wanted: ChangesWanted): Promise<ListedChanges> {
  const { layers, signal } = wanted;
  const changes = new Map<string, FileChange>();
  const seen = new Set<string>();
  const counts: Promise<number>[] = [];
  let left = MAX_CHANGES;
  let asked = firstAsked(wanted);
  for (let round = 1; asked.length > 0; round += 1) {
    const found = await files.changesAt(asked, { layers, maxEntries: left, signal });
    left -= found.changes.length + found.folders.length;
    for (const change of found.changes) changes.set(nameOf(change), change);
    // SECURITY: each folder is asked for once, however often the guest names it (G-10)
    const fresh = found.folders.filter((folder) => isFresh(seen, folder));
    if (fresh.length > 0 && asked.every(({ manner }) => manner !== "asking"))
      throw protocolError("a folder that was not asked for");
    const ignored = fresh.filter(({ pathBytes }) => wanted.rules?.covers(pathBytes.toString("latin1"), true) === true);
    if (ignored.length > 0) counts.push(countChanges(files, ignored, { layers, signal }));
    const hidden = new Set(ignored);
    const manner = round < MAX_ROUNDS ? ("asking" as const) : ("whole" as const);
    asked = fresh.flatMap((folder) => (hidden.has(folder) ? [] : [{ manner, path: folder.pathBytes }]));
  }
  const shown = [...changes.values()].filter((change) => !isHidden(change, wanted));
  const ignoredCount = Promise.all(counts).then((all) => all.reduce((a, b) => a + b, changes.size - shown.length));
  ignoredCount.catch(() => undefined); // heard when it is asked for, maybe after it failed
  return { changes: shown, ignoredCount };
}

async function countChanges(
  files: GuestFiles,
  folders: readonly GuestEntry[],
  call: Pick<ChangesWanted, "layers" | "signal">,
): Promise<number> {
  const asked = folders.map(({ pathBytes: path }) => ({ manner: "counting" as const, path }));
  const { counted } = await files.changesAt(asked, { ...call, maxEntries: 0 });
  return counted;
}

/** What is covered by a rule and was named is looked at as a whole; what was named and is not, with its ignored parts left out. */
function firstAsked({ rules, paths }: ChangesWanted): ChangesAsked[] {
  const manner = rules ? ("asking" as const) : ("whole" as const);
  if (paths.length === 0) return [{ manner, path: "" }];
  return paths.map((path) => ({
    manner: rules?.covers(path.toString("latin1"), true) === true ? "whole" : manner,
    path,
  }));
}

function isFresh(seen: Set<string>, folder: GuestEntry): boolean {
  const name = nameOf(folder);
  if (seen.has(name)) return false;
  seen.add(name);
  return true;
}

/** SECURITY: what the user has seeded is always shown when it changes, whatever the rules say (G-30). */
function isHidden(change: FileChange, { rules, paths }: ChangesWanted): boolean {
  if (!rules || change.inBaseline) return false;
  const name = nameOf(change);
  if (!rules.covers(name, change.newType === "directory")) return false;
  return !paths.some((path) => {
    const named = path.toString("latin1");
    return (name === named || name.startsWith(`${named}/`)) && (name === named || rules.covers(named, true));
  });
}

const nameOf = ({ pathBytes }: { readonly pathBytes: Buffer }): string => pathBytes.toString("latin1");
