import type { StoredWorkspace } from "../../contracts/store.ts";
import { listChanges } from "../diff/list-changes.ts";
import type { Dependencies } from "../dependencies.ts";
import { hasChanges } from "../has-changes.ts";
import type { LiveWorkspace } from "../live-workspace.ts";

/** Whether a workspace has changed anything that could be brought home: not what git keeps for itself, and not what the project ignores. */
export async function hasWork(
  deps: Dependencies,
  stored: StoredWorkspace,
  live: LiveWorkspace | undefined,
): Promise<boolean> {
  if (!live) return await hasChanges(deps, stored, undefined);
  const rules = deps.seeds.ignoreRules(stored.baseline).matcher();
  try {
    const layers = stored.baseLayers.length;
    const { changes } = await listChanges(await live.files(), { layers, rules, paths: [] });
    return changes.length > 0;
  } catch {
    return true; // where it cannot be told, nothing is thrown away
  }
}
