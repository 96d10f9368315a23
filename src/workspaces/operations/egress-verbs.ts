import type { Egress } from "../../model/egress.ts";
import type { egressOperations } from "../../model/operations/egress-operations.ts";
import { failure } from "../../model/error-codes.ts";
import { createDetector } from "../../policy/dlp/create-detector.ts";
import { checkEgress } from "../check-egress.ts";
import type { Dependencies } from "../dependencies.ts";
import { isEgressDoor } from "../egress-door.ts";
import { readPolicy } from "../egress-policy.ts";
import { policyOf } from "../egress.ts";
import { learnEgress } from "../learn-egress.ts";
import { setEgress } from "../set-egress.ts";
import type { Verb, WorkspaceVerbs } from "../verb.ts";
import type { Workspaces } from "../workspaces.ts";

export function egressVerbs(deps: Dependencies, workspaces: Workspaces): WorkspaceVerbs<typeof egressOperations> {
  return {
    setEgress: (found, input) => workspaces.turns.take(found.workspaceId, () => setEgress(deps, found, input)),
  };
}

/** Of a workspace that there is, or was and is still told of. */
export function egressLearn(deps: Dependencies, workspaces: Workspaces): Verb<"learnEgress"> {
  return async ({ workspace_id: id }) => await learnEgress(deps, workspaces.findTold(id));
}

/** What a bottle lets out: bottles are known above workspaces. */
export type BottlePolicy = (bottle: string) => Promise<Egress>;

/** About a workspace, a bottle, or a policy that is nobody's yet. */
export function egressCheck(workspaces: Workspaces, ofBottle: BottlePolicy): Verb<"checkEgress"> {
  return async ({ workspace_id: id, bottle, egress, method = "GET", url }) => {
    if ([id, bottle, egress].filter((one) => one !== undefined).length !== 1)
      throw failure("INVALID_ARGUMENT", "A request is checked against one policy", {
        hint: "Name a workspace or a bottle, or give a policy",
      });
    if (id === undefined) {
      const policy = bottle === undefined ? readPolicy(egress) : await ofBottle(bottle);
      return checkEgress(policy, createDetector({ known: [] }), method, url);
    }
    const { stored, known } = workspaces.guarded(id);
    const checked = checkEgress(policyOf(stored), createDetector({ known }), method, url);
    if (checked.allowed || stored.doors.some(isEgressDoor)) return checked;
    return { ...checked, reason: `Workspace ${id} has no way out: its network policy is ${stored.networkPolicy}` };
  };
}
