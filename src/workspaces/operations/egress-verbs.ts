import type { egressOperations } from "../../model/operations/egress-operations.ts";
import { failure } from "../../model/error-codes.ts";
import { createDetector } from "../../policy/dlp/create-detector.ts";
import { checkEgress } from "../check-egress.ts";
import type { Dependencies } from "../dependencies.ts";
import { readPolicy } from "../egress-policy.ts";
import { policyOf } from "../egress.ts";
import { learnEgress } from "../learn-egress.ts";
import { setEgress } from "../set-egress.ts";
import type { Verb, WorkspaceVerbs } from "../verb.ts";
import type { Workspaces } from "../workspaces.ts";

export function egressVerbs(deps: Dependencies, workspaces: Workspaces): WorkspaceVerbs<typeof egressOperations> {
  return {
    learnEgress: ({ workspaceId }) => learnEgress(deps, workspaceId),
    setEgress: (found, input) => workspaces.turns.take(found.workspaceId, () => setEgress(deps, found, input)),
  };
}

/** About a workspace, or about a policy that is no workspace's yet. */
export function egressCheck(workspaces: Workspaces): Verb<"checkEgress"> {
  // eslint-disable-next-line @typescript-eslint/require-await -- what it throws is a rejection
  return async ({ workspace_id: id, egress, method = "GET", url }) => {
    if ((id === undefined) === (egress === undefined))
      throw failure("INVALID_ARGUMENT", "A request is checked against one policy", {
        hint: "Name a workspace, or give a policy",
      });
    if (id === undefined) return checkEgress(readPolicy(egress), createDetector({ known: [] }), method, url);
    const { stored, known } = workspaces.guarded(id);
    return checkEgress(policyOf(stored), createDetector({ known }), method, url);
  };
}
