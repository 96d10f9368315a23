import { isDeepStrictEqual } from "node:util";
import { messageOf } from "../base/errors.ts";
import type { Proposed } from "../model/proposal.ts";
import type { RunMetadata } from "../model/run.ts";
import { changeOf } from "../policy/bottles/change-script.ts";
import type { Proposals } from "../supervise/proposals.ts";
import type { RunParts } from "./run-parts.ts";

/** Why a run is there to be resumed. */
export const MOVE_CUT = "the daemon ended while it was being given another environment";

/**
 * Of a run whose daemon ended while it moved it: what is written down of it is what it has. The workspace tells, since it has one environment or the other. Its agent has
 * ended, or was just started again; either way the run is kept and can be taken up, so `moving` stays for whoever settles it.
 */
export async function endMove({ deps, states }: Pick<RunParts, "deps" | "states">, metadata: RunMetadata) {
  const { moving, workspace_id: id } = metadata;
  if (!moving || deps.store.findWorkspace(id)?.environment !== moving.whole) return metadata;
  const there: RunMetadata = { ...metadata, environment: moving.environment, changes: moving.changes };
  await states.write(there);
  return there;
}

/**
 * Writes down approvals that were in force when a daemon ended before it could. SECURITY: what a run was given is an answer that everybody can see, never a question that
 * can still be refused (G-135)
 */
export async function settleChanges({ deps, states }: Pick<RunParts, "deps" | "states">, proposals: Proposals) {
  for (const { proposal_id, identity, proposed: asked } of proposals.list({ kind: "capability-block" }).proposals) {
    try {
      const change = states.read(identity).changes.find((one) => one.proposal_id === proposal_id);
      if (!change) continue;
      const { packages, steps, reason } = change;
      const isAsAsked = isDeepStrictEqual(changeOf(asked as Proposed<"capability-block">), { packages, steps });
      const proposed = isAsAsked ? undefined : { packages, steps };
      await proposals.approve({ proposal_id, proposed, ...(reason !== null && { reason }) });
    } catch (error) {
      deps.log.warn("cannot write down an approval", { proposal: proposal_id, reason: messageOf(error) });
    }
  }
}
