import { jsonBytes } from "../../base/json-bytes.ts";
import type { FileChange } from "../../guest/files.ts";
import { failure } from "../../model/error-codes.ts";
import { CHANGE_STATUSES, type ChangeStatus, type Diff, type DiffEntry, type Omission } from "../../model/files.ts";
import type { OperationInput } from "../../model/operations.ts";
import type { IgnoreRules } from "../../policy/ignore-rules.ts";
import type { Redactor } from "../../policy/redactor.ts";
import { toWorkspaceRelative } from "../../policy/workspace-path.ts";
import type { LiveWorkspace } from "../live-workspace.ts";
import { type ComparedState, listSince } from "./compared-state.ts";
import { toEntries, type Change } from "./diff-entries.ts";
import { readSides, type SidesWanted } from "./read-sides.ts";

/** Of all patches together, as they are emitted: each is in its entry and in the whole. Names are bounded where they are listed. */
const MAX_PATCH_BYTES = 16 * 1024 * 1024;

export type DiffWanted = Pick<OperationInput<"diffWorkspace">, "path" | "include_ignored">;

export interface DiffSources {
  readonly live: LiveWorkspace;
  /** What it is compared with. */
  readonly state: ComparedState;
  /** Of the seed. */
  readonly rules: IgnoreRules;
  readonly signal?: AbortSignal | undefined;
}

/** What differs from an earlier state, with patches. The guest lists the writable layer, so the cost follows the changes. */
export async function diffWorkspace(sources: DiffSources, wanted: DiffWanted = {}): Promise<Diff> {
  const { live } = sources;
  const { changes, ignoredCount } = await listSources(sources, wanted);
  const sides = await withSides(sources, changes);
  const entries: DiffEntry[] = [];
  let left = MAX_PATCH_BYTES;
  for (const found of toEntries(sides, () => left > 0)) {
    const { patch, ...entry } = redactEntry(found, live.secrets.redactor);
    const bytes = patch === undefined ? 0 : 2 * jsonBytes(patch);
    // SECURITY: a name in a patch has four bytes for each of its own, four times, and a patch two for each line: counted as it is emitted (G-25)
    if (patch === undefined) entries.push(entry);
    else entries.push(bytes > left ? { ...entry, omitted: "budget" } : { ...entry, patch });
    left = Math.max(0, left - bytes);
    await nextTurn(); // comparing is work for the processor: others get their turn after each file
  }
  return {
    ...describeEntries(live.workspaceId, entries, await ignoredCount),
    patch: entries.map((entry) => entry.patch ?? "").join(""),
    omitted: countOmitted(entries),
  };
}

export type DiffOutline = Omit<Diff, "patch" | "omitted">;

/** The same without patches: files are read only where one may have been renamed. In the order of importance. */
export async function outlineDiff(sources: DiffSources): Promise<DiffOutline> {
  const { changes, ignoredCount } = await listSources(sources, {});
  const mayMove = (["added", "deleted"] as const).every((status) => changes.some((change) => change.status === status));
  const sides = await withSides(sources, changes, ({ status }) => ({
    before: mayMove && status === "deleted",
    after: mayMove && status === "added",
  }));
  const entries = [...toEntries(sides, () => false)].map(({ path, status, artifact_type, size_bytes, old_path }) =>
    redactEntry(
      { path, status, artifact_type, size_bytes, ...(old_path !== undefined && { old_path }) },
      sources.live.secrets.redactor,
    ),
  );
  const outline = describeEntries(sources.live.workspaceId, [...entries], await ignoredCount);
  return { ...outline, entries };
}

async function withSides(
  { live, state, signal }: DiffSources,
  changes: readonly FileChange[],
  wants?: SidesWanted["wants"],
): Promise<Change[]> {
  const now = { files: await live.files(), root: "workspace" } as const;
  const sides = await readSides(changes, { before: await state.before(live), now, ...(wants && { wants }), signal });
  return changes.map((change, index) => ({ change, before: sides[index]?.before, after: sides[index]?.after }));
}

async function listSources({ live, state, rules, signal }: DiffSources, wanted: DiffWanted) {
  const named = wanted.path === undefined ? [] : [wanted.path].flat();
  const paths = named.map(toWorkspaceRelative);
  const listed = await listSince(live, state, {
    rules: wanted.include_ignored === true ? undefined : rules.matcher(),
    // All of the workspace is no path of its own.
    paths: paths.includes("") ? [] : paths.map((path) => Buffer.from(path)),
    signal,
  });
  if (listed.changes.length === 0)
    for (const [index, path] of paths.entries()) await requireThere(path, named[index] ?? path);
  return { ...listed, changes: [...listed.changes].sort(sourceFirst) };

  async function requireThere(path: string, shownPath: string): Promise<void> {
    const before = await state.before(live);
    const now = { files: await live.files(), root: "workspace" } as const;
    const isThere = ({ files, root }: typeof before) =>
      path === "" ||
      files.stat(root, path, { shownPath }).then(
        () => true,
        () => false,
      );
    if ((await isThere(now)) || (await isThere(before))) return;
    throw failure("FILE_NOT_FOUND", `There is no ${JSON.stringify(shownPath)}, and there was none`);
  }
}

/**
 * What matters most is read first, so that it has its patch when a budget ends: what the baseline has, then what is small. What somebody installs or builds
 * is new, and much.
 */
function sourceFirst(a: FileChange, b: FileChange): number {
  if (a.inBaseline !== b.inBaseline) return a.inBaseline ? -1 : 1;
  return a.newSize - b.newSize || Buffer.compare(a.pathBytes, b.pathBytes);
}

/** Sorts the entries by path. */
function describeEntries(workspaceId: string, entries: DiffEntry[], ignoredCount: number): DiffOutline {
  entries.sort((a, b) => (a.path < b.path ? -1 : 1));
  const count = (status: ChangeStatus) => entries.filter((entry) => entry.status === status).length;
  const summary = Object.fromEntries(CHANGE_STATUSES.map((status) => [status, count(status)])) as Record<
    ChangeStatus,
    number
  >;
  return {
    workspace_id: workspaceId,
    changed: entries.length > 0,
    summary: { total: entries.length, ...summary },
    entries,
    ignored_count: ignoredCount,
  };
}

function countOmitted(entries: readonly DiffEntry[]): Diff["omitted"] {
  const reasons: Partial<Record<Omission, number>> = {};
  let count = 0;
  for (const { omitted } of entries) {
    if (omitted === undefined) continue;
    reasons[omitted] = (reasons[omitted] ?? 0) + 1;
    count += 1;
  }
  return { count, reasons };
}

function redactEntry(entry: DiffEntry, redactor: Redactor): DiffEntry {
  if (redactor.isEmpty) return entry;
  const { path, old_path: oldPath, patch } = entry;
  return {
    ...entry,
    path: redactor.text(path),
    ...(oldPath !== undefined && { old_path: redactor.text(oldPath) }),
    ...(patch !== undefined && { patch: redactor.text(patch) }),
  };
}

const nextTurn = (): Promise<void> => new Promise((done) => setImmediate(done));
