import { lstatSync, realpathSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import type { StoredWorkspace } from "../../contracts/store.ts";
import type { Applied, AppliedEntry } from "../../model/applied.ts";
import { failure } from "../../model/error-codes.ts";
import type { OperationInput } from "../../model/operations.ts";
import { fromByteText, type ByteText } from "../../policy/byte-text.ts";
import { countLines } from "../../policy/way-home/bring-home.ts";
import { actsByItself } from "../../policy/way-home/look-first.ts";
import type { Dependencies } from "../dependencies.ts";
import { withState } from "../diff/compared-state.ts";
import type { LiveWorkspace } from "../live-workspace.ts";
import { Checkout } from "./checkout.ts";
import { type CollectedChanges, collectChanges } from "./collect-changes.ts";
import { addWorktree } from "./add-worktree.ts";
import { commitBranch, requireFreeBranch } from "./commit-branch.ts";
import { digestPlan } from "./digest-plan.ts";
import { type Arriving, landOnCommit, landOnFiles } from "./plan-arrivals.ts";
import { inHiddenRepositories } from "./planted-repositories.ts";
import { unsafeLinks } from "./safe-links.ts";
import { writeFiles } from "./write-files.ts";

export type ApplyInput = Omit<OperationInput<"applyRun">, "identity">;

export interface ApplySource {
  readonly live: LiveWorkspace;
  readonly stored: StoredWorkspace;
  /** Of the run, where it is one. */
  readonly identity: string | null;
  readonly signal: AbortSignal;
}

const MAX_NAMED_CONFLICTS = 5;

/** Brings what changed in a workspace into a checkout of the host. A dry run tells what would become of it. */
export async function applyChanges(deps: Dependencies, source: ApplySource, input: ApplyInput): Promise<Applied> {
  const { stored, identity, signal } = source;
  const { as = "patch", dry_run: isDry = false } = input;
  const checkout = await Checkout.open(projectOf(stored, input), signal);
  const place = await choosePlace(checkout, source, input);
  const collected = await collect(deps, source, checkout, input);
  const { arrivals, leftOut } = await meet(checkout, place.base, collected);
  const conflicts = arrivals.filter(({ arrival }) => arrival.kind === "conflicts");
  const written = arrivals.flatMap(({ change: { path }, host, arrival }) =>
    arrival.kind === "applies" || arrival.kind === "merges" ? [{ path, was: host, becomes: arrival.state }] : [],
  );
  const planned: Omit<Applied, "plan_digest"> = {
    workspace_id: stored.workspaceId,
    identity,
    as,
    applied: false,
    checkout_path: checkout.path,
    base_commit: place.base ?? null,
    branch: place.branch,
    commit: null,
    worktree_path: place.worktree,
    entries: arrivals.map(describe),
    conflict_count: conflicts.length,
    left_out: leftOut.map(({ path, reason }) => ({ path: shown(path), reason })),
    look_first: written.map(({ path }) => shown(path)).filter(actsByItself),
    ignored_count: collected.ignoredCount,
  };
  const told: Applied = { ...planned, plan_digest: digestPlan(planned, written, input.message) };
  if (isDry) return told;
  // SECURITY: an agent that works on, or anybody else, does not get another change past who said yes to this one (G-142)
  if (input.plan_digest !== undefined && input.plan_digest !== told.plan_digest) throw changedSince();
  if (conflicts.length > 0) throw conflicting(checkout, conflicts, arrivals.length);
  if (written.length === 0) return told;
  signal.throwIfAborted();
  let commit: string | null = null;
  if (place.base === undefined || place.branch === null) await writeFiles(checkout, written);
  else {
    const message = input.message ?? `Changes of ${identity ?? stored.name ?? stored.workspaceId}\n`;
    const wanted = { branch: place.branch, base: place.base, message, seconds: deps.clock.now(), files: written };
    commit = await commitBranch(checkout, wanted);
    if (place.worktree !== null)
      await addWorktree(checkout, { branch: place.branch, folder: place.worktree, commit, signal });
  }
  deps.events.record({
    kind: "changes.applied",
    workspace_id: stored.workspaceId,
    as,
    checkout_path: checkout.path,
    branch: place.branch,
    files: written.length,
  });
  return { ...told, commit, applied: true };
}

function projectOf({ seed, workspaceId }: StoredWorkspace, { project_path: asked }: ApplyInput): string {
  const project = asked ?? (seed.mode === "directory" ? seed.seed_path : null);
  if (project !== null) return project;
  throw failure("CHECKOUT_INVALID", `Workspace ${workspaceId} began with no folder of this host`);
}

interface Place {
  /** Undefined where the files themselves are changed. */
  readonly base: string | undefined;
  readonly branch: string | null;
  readonly worktree: string | null;
}

async function choosePlace(checkout: Checkout, { stored, identity }: ApplySource, input: ApplyInput): Promise<Place> {
  const { as = "patch" } = input;
  if (as === "patch") return { base: undefined, branch: null, worktree: null };
  const base = await checkout.head();
  if (base === undefined)
    throw failure("CHECKOUT_INVALID", `"${checkout.path}" has no commit that a branch could begin with`, {
      hint: "Commit something first",
    });
  const name = identity ?? stored.name ?? stored.workspaceId;
  const branch = input.branch ?? `cloche/${name}`;
  await requireFreeBranch(checkout, branch);
  if (as === "branch") return { base, branch, worktree: null };
  return { base, branch, worktree: newFolder(input.output_path ?? `${checkout.path}-${name}`) };
}

function newFolder(output: string): string {
  const path = resolve(output);
  const parent = lstatSync(dirname(path), { throwIfNoEntry: false });
  if (!parent) throw failure("OUTPUT_INVALID", `Cannot make "${path}": "${dirname(path)}" is no folder`);
  if (lstatSync(path, { throwIfNoEntry: false })) throw failure("OUTPUT_EXISTS", `"${path}" exists`);
  return join(realpathSync(dirname(path)), basename(path));
}

async function collect(
  deps: Dependencies,
  { live, stored, signal }: ApplySource,
  checkout: Checkout,
  { path }: ApplyInput,
): Promise<CollectedChanges> {
  const rules = deps.seeds.ignoreRules(stored.baseline);
  const takeTurn = <Result>(work: () => Promise<Result>) => work(); // the baseline is in its own sandbox
  return await withState(deps, { stored, takeTurn, signal }, (state) =>
    collectChanges(
      { live, state, rules, signal },
      { paths: path === undefined ? [] : [path].flat(), prefix: checkout.prefix },
    ),
  );
}

async function meet(
  checkout: Checkout,
  base: string | undefined,
  { changes, leftOut }: CollectedChanges,
): Promise<{ arrivals: Arriving[]; leftOut: CollectedChanges["leftOut"] }> {
  const landing = base === undefined ? await landOnFiles(checkout) : await landOnCommit(checkout, base, changes);
  const hidden = inHiddenRepositories(changes, { path: checkout.path, files: landing.files.keys() });
  const visible = changes.filter((change) => !hidden.has(change));
  const unsafe = await unsafeLinks(visible, landing.trees);
  const away = [
    ...[...hidden].map(({ path }) => ({ path, reason: "git would take its folder for a repository" })),
    ...[...unsafe].map(([{ path }, reason]) => ({ path, reason })),
  ];
  const arrivals = visible
    .filter((change) => !unsafe.has(change))
    .sort((one, other) => (one.path < other.path ? -1 : 1))
    .map((change) => landing.arrive(change));
  return { arrivals, leftOut: [...leftOut, ...away] };
}

const changedSince = () =>
  failure("APPLY_CONFLICT", "What would come home has changed since it was shown; nothing was changed", {
    hint: "Look at it again with --dry-run, or stop the agent first",
  });

const shown = (path: ByteText): string => fromByteText(path).toString("utf8");

function describe({ change, arrival }: Arriving): AppliedEntry {
  const { path, before, after } = change;
  const lines = countLines(change);
  return {
    path: shown(path),
    status: !before ? "added" : !after ? "deleted" : before.type === after.type ? "modified" : "type_changed",
    outcome: arrival.kind,
    reason: arrival.kind === "conflicts" ? arrival.reason : null,
    lines_added: lines?.added ?? null,
    lines_removed: lines?.removed ?? null,
  };
}

function conflicting({ path: top }: Checkout, conflicts: readonly Arriving[], all: number): Error {
  const named = conflicts.slice(0, MAX_NAMED_CONFLICTS).map(({ change, arrival }) => {
    const reason = arrival.kind === "conflicts" ? arrival.reason : "";
    return `${JSON.stringify(shown(change.path))} (${reason})`;
  });
  const more = conflicts.length - named.length;
  const list = `${named.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
  return failure(
    "APPLY_CONFLICT",
    `${conflicts.length} of ${all} changes do not fit "${top}": ${list}; nothing was changed`,
    { details: { paths: conflicts.map(({ change }) => shown(change.path)) } },
  );
}
