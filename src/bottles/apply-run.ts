import type { Applied } from "../model/applied.ts";
import type { OperationInput } from "../model/operations.ts";
import { runIdentityOf } from "../workspaces/made-for-run.ts";
import type { CallContext } from "../workspaces/verb.ts";
import { applyChanges } from "../workspaces/way-home/apply-changes.ts";
import type { RunParts } from "./run-parts.ts";

/** Brings the changes of a run home, while its agent works or after its end. Any other workspace goes the same way. */
export async function applyRun(
  { deps, workspaces }: RunParts,
  { identity: word, ...input }: OperationInput<"applyRun">,
  { signal }: Pick<CallContext, "signal">,
): Promise<Applied> {
  return await workspaces.act("statusWorkspace", word, async ({ workspaceId, stored, liveIfRunning }) => {
    const identity = runIdentityOf(stored) ?? null;
    const source = { stored, identity, signal };
    if (liveIfRunning) return await applyChanges(deps, { ...source, live: liveIfRunning }, input);
    return await workspaces.inspect(workspaceId, (live) => applyChanges(deps, { ...source, live }, input));
  });
}
