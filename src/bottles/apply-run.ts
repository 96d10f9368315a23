import { isClocheError } from "../base/errors.ts";
import type { Applied } from "../model/applied.ts";
import { failure } from "../model/error-codes.ts";
import type { OperationInput } from "../model/operations.ts";
import { similarRun } from "../model/run-missing.ts";
import { findWorkspace } from "../workspaces/find-workspace.ts";
import { runIdentityOf } from "../workspaces/made-for-run.ts";
import { isVisible } from "../workspaces/present.ts";
import type { CallContext } from "../workspaces/verb.ts";
import { applyChanges } from "../workspaces/way-home/apply-changes.ts";
import type { RunParts } from "./run-parts.ts";

/** Brings the changes of a run home, while its agent works or after its end. Any other workspace goes the same way. */
export async function applyRun(
  { deps, workspaces }: RunParts,
  { identity: word, ...input }: OperationInput<"applyRun">,
  { signal }: Pick<CallContext, "signal">,
): Promise<Applied> {
  requireWorkspace(deps, word);
  return await workspaces.act("statusWorkspace", word, async ({ workspaceId, stored, liveIfRunning }) => {
    const identity = runIdentityOf(stored) ?? null;
    const source = { stored, identity, signal };
    if (liveIfRunning) return await applyChanges(deps, { ...source, live: liveIfRunning }, input);
    return await workspaces.inspect(workspaceId, (live) => applyChanges(deps, { ...source, live }, input));
  });
}

/** The error of a workspace that there is not; whoever gave an agent's name, or the beginning of one identity, hears which run fits. */
function requireWorkspace({ store }: RunParts["deps"], word: string): void {
  try {
    findWorkspace(store, word);
  } catch (error) {
    const there = store.listWorkspaces().filter(isVisible);
    const hint = similarRun(
      word,
      there.flatMap((one) => runIdentityOf(one) ?? []),
    );
    if (hint === undefined || !isClocheError(error) || error.code !== "WORKSPACE_NOT_FOUND") throw error;
    throw failure(error.code, error.message, { hint, ...(error.details && { details: { ...error.details } }) });
  }
}
