import { messageOf } from "../base/errors.ts";
import type { Backend, PruneKeep } from "../contracts/backend.ts";
import type { BackendPruned, EnvironmentsPruned } from "../model/environment.ts";
import type { OperationInput } from "../model/operations.ts";
import type { ReportProgress } from "../model/progress.ts";
import type { Dependencies } from "./dependencies.ts";

/**
 * Removes environments that no workspace uses, and then what backends have made of those that are gone. Where some are named, nothing goes but these and what
 * was made of them; in a dry run nothing at all.
 */
export async function pruneEnvironments(
  deps: Dependencies,
  { environments: names, dry_run: dryRun = false }: OperationInput<"pruneEnvironments">,
  progress?: ReportProgress,
): Promise<EnvironmentsPruned> {
  const stored = deps.store.listWorkspaces();
  const inUse = new Set(stored.map(({ environment }) => environment));
  const { removed, kept } = await deps.environments.prune({ inUse, names, dryRun, progress });
  const gone = new Set(removed.map(({ digest }) => digest));
  const keep: PruneKeep = {
    environments: new Set([...(await deps.environments.digests())].filter((digest) => !dryRun || !gone.has(digest))),
    // Asked now: a workspace may have been created since.
    baselines: new Set(deps.store.listWorkspaces().map(({ baseline }) => baseline)),
    only: names && gone,
    dryRun,
  };
  const backends: BackendPruned[] = [];
  for (const backend of deps.backends.values()) {
    progress?.({ step: `looking for what ${backend.name} does not need` });
    const pruned = await pruneBackend(deps, backend, keep);
    if (pruned.removed.length > 0 || pruned.problem !== null) backends.push(pruned);
  }
  const all = [...removed, ...backends.flatMap((one) => one.removed)];
  return {
    dry_run: dryRun,
    removed: removed.map(({ name, size_bytes }) => ({ name, size_bytes })),
    kept: [...kept],
    backends,
    freed_bytes: all.reduce((sum, { size_bytes }) => sum + size_bytes, 0),
  };
}

/** One that cannot clean up does not hold up the others. */
async function pruneBackend({ log }: Dependencies, backend: Backend, keep: PruneKeep): Promise<BackendPruned> {
  const { name } = backend;
  try {
    const removed = (await backend.prune?.(keep)) ?? [];
    return {
      name,
      removed: removed.map((one) => ({ name: one.name, size_bytes: one.sizeBytes })),
      problem: null,
    };
  } catch (error) {
    log.warn("a backend cannot clean up", { backend: name, reason: messageOf(error) });
    return { name, removed: [], problem: messageOf(error) };
  }
}
