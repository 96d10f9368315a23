import type { StoredEgress } from "../contracts/store.ts";
import type { EgressSet } from "../model/egress-seen.ts";
import { failure } from "../model/error-codes.ts";
import type { OperationInput } from "../model/operations.ts";
import type { Dependencies } from "./dependencies.ts";
import { isEgressDoor } from "./egress-door.ts";
import { keepPolicy, readPolicy, withProviderRoutes } from "./egress-policy.ts";
import type { FoundWorkspace } from "./verb.ts";
import { byOperator, recordPolicy } from "./record-policy.ts";
import { reloadGate } from "./workspace-gate.ts";

/** Gives a workspace with an egress door another policy, or its tokens anew. The caller holds the workspace's turn. */
export async function setEgress(
  deps: Dependencies,
  { workspaceId, stored, liveIfRunning: live }: FoundWorkspace,
  { egress, egress_tokens: values = {} }: OperationInput<"setEgress">,
): Promise<EgressSet> {
  const asked = readPolicy(egress);
  if (!stored.doors.some(isEgressDoor))
    throw failure(
      "INVALID_ARGUMENT",
      `Workspace ${workspaceId} has no way out: its network policy is ${stored.networkPolicy}`,
      {
        hint: "Create one with --egress-policy, or with --network-policy egress",
      },
    );
  const given = await deps.tokens.fetch(asked, values);
  // What the routes of a run's model take is not given again.
  const tokens = new Map([...(stored.egress?.providers ? (deps.tokens.copyOf(workspaceId) ?? []) : []), ...given]);
  const policy = withProviderRoutes(asked, stored.egress);
  const kept = keepPolicy(policy, tokens, stored.egress);
  const next = {
    ...stored,
    allowHosts: [],
    egress: { ...kept, ...ofTheRun(stored.egress) },
  };
  deps.store.transaction(() => {
    deps.store.updateWorkspace(workspaceId, { allowHosts: next.allowHosts, egress: next.egress });
    recordPolicy(deps, stored, next, byOperator());
  });
  deps.tokens.give(workspaceId, tokens);
  if (live) live.standIns = next.egress.standIns;
  const inForce = live && (await reloadGate(deps, next, live));
  return { workspace_id: workspaceId, revision: inForce?.revision ?? null, route_count: policy.routes?.length ?? 0 };
}

/** What is no part of a policy, and stays. */
const ofTheRun = (egress: StoredEgress | null): Pick<StoredEgress, "providers" | "budget"> => ({
  ...(egress?.providers && { providers: egress.providers }),
  ...(egress?.budget && { budget: egress.budget }),
});
