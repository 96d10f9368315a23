import { budgetEffect } from "../bottles/budget-effect.ts";
import { capabilityEffect } from "../bottles/capability-effect.ts";
import { routeEffect } from "../bottles/route-effect.ts";
import type { RunParts } from "../bottles/run-parts.ts";
import type { Runs } from "../bottles/runs.ts";
import { failure } from "../model/error-codes.ts";
import { type Effects, letPass, type Subject } from "../supervise/effect.ts";
import { runIdentityOf } from "../workspaces/made-for-run.ts";
import { isVisible } from "../workspaces/present.ts";

/** What an approval of each kind does. */
export function proposalEffects(parts: RunParts, runs: () => Runs): Effects {
  const { deps, workspaces } = parts;
  const requireGate = ({ workspace_id: id, identity }: Subject): void => {
    const stored = deps.store.findWorkspace(id);
    if (stored?.state === "started") return;
    if (!stored || !isVisible(stored))
      throw failure("RUN_NOT_ACTIVE", `"${identity}" is gone: nothing of it waits or can be sent again`, {
        hint: "Reject it with a reason, or leave it: it is over when its time is",
      });
    throw failure("RUN_NOT_ACTIVE", `"${identity}" does not run: nothing of it waits or can be sent again`, {
      hint: "Take it up again and approve it then, or reject it with a reason",
    });
  };
  return {
    "egress-block": routeEffect({ deps, workspaces }),
    "capability-block": capabilityEffect(parts, runs),
    "dlp-allow": letPass(requireGate),
    "push-allow": letPass(requireGate),
    budget: budgetEffect({ deps, workspaces }),
  };
}

/** Who asks, by its workspace. SECURITY: by what the daemon knows, never by what the gate says (G-96) */
export function subjectOf({ deps, states }: RunParts, workspaceId: string): Subject | undefined {
  const stored = deps.store.findWorkspace(workspaceId);
  if (!stored || !isVisible(stored)) return undefined;
  const identity = runIdentityOf(stored);
  const none = { workspace_id: workspaceId, identity: identity ?? workspaceId, agent_name: null, bottle_names: [] };
  if (identity === undefined) return none;
  try {
    const { agent_name, bottle_names } = states.read(identity);
    return { ...none, agent_name, bottle_names };
  } catch {
    return none; // its state was removed under it
  }
}
