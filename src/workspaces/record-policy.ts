import { operatorName } from "../base/operator.ts";
import type { StoredWorkspace } from "../contracts/store.ts";
import { policyHash } from "../policy/egress/policy-hash.ts";
import type { Dependencies } from "./dependencies.ts";
import { policyOf } from "./egress.ts";

type WithPolicy = Pick<StoredWorkspace, "workspaceId" | "egress" | "allowHosts">;

/** Whose word a policy was changed on. */
export interface ChangedBy {
  /** Of the proposal that was approved; null where somebody set another policy. */
  readonly proposal_id: string | null;
  /** A user of this host, or a rule. */
  readonly decided_by: string;
}

/** The user whose daemon this is, without a proposal. */
export const byOperator = (): ChangedBy => ({ proposal_id: null, decided_by: operatorName() });

/** Tells that a workspace has another policy, and by whom. In one transaction with the change. */
export function recordPolicy(
  { events }: Pick<Dependencies, "events">,
  earlier: WithPolicy,
  next: WithPolicy,
  { proposal_id, decided_by: operator }: ChangedBy,
): void {
  const [before, after] = [policyOf(earlier), policyOf(next)];
  const [before_hash, after_hash] = [policyHash(before), policyHash(after)];
  if (before_hash === after_hash) return;
  const told = { operator, proposal_id, before_hash, after_hash, before, after };
  events.record({ kind: "policy.changed", workspace_id: earlier.workspaceId, ...told });
}
