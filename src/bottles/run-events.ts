import { operatorName } from "../base/operator.ts";
import type { RunEnd, RunMetadata } from "../model/run.ts";
import { policyHash } from "../policy/egress/policy-hash.ts";
import type { Dependencies } from "../workspaces/dependencies.ts";
import { policyOf } from "../workspaces/egress.ts";

/** Tells that an agent works: by whose word, in which environment and under which policy. */
export function recordStarted(deps: Dependencies, metadata: RunMetadata, environmentDigest: string | null): void {
  const { identity, workspace_id, agent_name, bottle_names, backend, label, resumed_at } = metadata;
  const stored = deps.store.findWorkspace(workspace_id);
  const environment = stored?.environment ?? metadata.environment;
  deps.events.record({
    kind: "run.started",
    workspace_id,
    identity,
    agent_name,
    bottle_names,
    backend,
    label,
    operator: operatorName(),
    environment,
    environment_digest: environmentDigest,
    policy_hash: stored ? policyHash(policyOf(stored)) : null,
    resumed: resumed_at !== null,
  });
}

/** Of the environment that a run is in: it was made ready for the sandbox a moment ago. */
export async function environmentDigest(deps: Dependencies, metadata: RunMetadata): Promise<string | null> {
  const { environments, store } = deps;
  const name = store.findWorkspace(metadata.workspace_id)?.environment ?? metadata.environment;
  try {
    return (await environments.isBuilt(name)) ? (await environments.ensure(name, {})).digest : null;
  } catch {
    return null;
  }
}

export function recordEnded(
  { events }: Dependencies,
  { identity, workspace_id }: RunMetadata,
  { exit_code, kept, reason, has_changes }: RunEnd,
): void {
  events.record({ kind: "run.ended", workspace_id, identity, exit_code, kept, reason, has_changes });
}
