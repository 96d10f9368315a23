import type { StoredWorkspace } from "../contracts/store.ts";
import type { ExecutionMode } from "../model/names.ts";
import type { Workspace } from "../model/workspace.ts";
import { dueAt } from "./expiry.ts";

/** The wire form of a stored workspace. `creating` and `deleting` are not shown to anybody. */
export function presentWorkspace(
  stored: StoredWorkspace,
  executionMode: ExecutionMode,
  counts: { commands: number; services: number; runningServices: number; shells: number },
): Workspace {
  return {
    workspace_id: stored.workspaceId,
    name: stored.name,
    labels: stored.labels,
    environment: stored.environment,
    backend: stored.backend,
    state: stored.state === "creating" || stored.state === "deleting" ? "failed" : stored.state,
    state_reason: stored.stateReason,
    network_policy: stored.networkPolicy,
    created_at: stored.createdAt,
    last_activity_at: stored.lastActivityAt,
    expires_at: stored.keep ? null : (stored.expired?.at ?? stored.lastActivityAt + stored.ttlSeconds),
    ttl_seconds: stored.ttlSeconds,
    keep: stored.keep,
    deletes_at: stored.expired && !stored.keep ? dueAt(stored) : null,
    execution_mode: executionMode,
    vcpu_count: stored.limits.vcpuCount,
    mem_mib: stored.limits.memMib,
    command_count: counts.commands,
    service_count: counts.services,
    running_service_count: counts.runningServices,
    shell_count: counts.shells,
    reset_count: stored.resetCount,
    // What an earlier version recorded says nothing about ignored files.
    workspace_seed: { ...stored.seed, left_out: stored.seed.left_out ?? null, included: stored.seed.included ?? null },
    model_usage: stored.modelUsage.total,
    secrets: stored.secrets.map(({ name, source_kind }) => ({ name, source_kind })),
  };
}

/** Whether a workspace is one that users see. */
export const isVisible = (stored: StoredWorkspace): boolean =>
  stored.state !== "creating" && stored.state !== "deleting";

/** Whether it was ended in good order, and has files to look at. */
export const isStopped = ({ state }: Pick<StoredWorkspace, "state">): boolean =>
  state === "stopped" || state === "expired";
