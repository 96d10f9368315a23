import { messageOf } from "../base/errors.ts";
import type { Backend, PruneKeep } from "../contracts/backend.ts";
import type { BackendPruned, EnvironmentsPruned } from "../model/environment.ts";
import type { Dependencies } from "./dependencies.ts";

/** Removes environments that no workspace uses, and then what backends have made of those that are gone. */
export async function pruneEnvironments(deps: Dependencies): Promise<EnvironmentsPruned> {
  const stored = deps.store.listWorkspaces();
  const removed = await deps.environments.prune(new Set(stored.map(({ environment }) => environment)));
  const keep = {
    environments: await deps.environments.digests(),
    // Of now: somebody may have created one since.
    baselines: new Set(deps.store.listWorkspaces().map(({ baseline }) => baseline)),
  };
  const backends: BackendPruned[] = [];
  for (const backend of deps.backends.values()) {
    const pruned = await pruneBackend(deps, backend, keep);
    if (pruned.removed.length > 0 || pruned.problem !== null) backends.push(pruned);
  }
  const all = [...removed, ...backends.flatMap((one) => one.removed)];
  return { removed, backends, freed_bytes: all.reduce((sum, { size_bytes }) => sum + size_bytes, 0) };
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
