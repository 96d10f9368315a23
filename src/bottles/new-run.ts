import type { BottlePlan } from "../model/bottle-plan.ts";
import type { RunMetadata } from "../model/run.ts";
import { newWorkspaceId } from "../workspaces/create-workspace.ts";
import type { CommittedRun } from "./commit-run.ts";

/** What is written down of a run before anything of it is made. */
export function newRun(
  identity: string,
  plan: BottlePlan,
  { from, now }: { readonly from: CommittedRun | undefined; readonly now: number },
): RunMetadata {
  return {
    version: 1,
    identity,
    agent_name: plan.agent.name,
    backend: plan.backend,
    environment: plan.environment,
    cwd: from?.metadata.cwd ?? plan.spec.project_path,
    copy_cwd: from?.metadata.copy_cwd ?? plan.spec.copy_cwd,
    started_at: now,
    label: plan.spec.label,
    color: plan.spec.color,
    bottle_names: [...plan.bottle_names],
    workspace_id: newWorkspaceId(),
    session_id: plan.agent_provision.session_id,
    session: null,
    resumed_at: null,
    ended_at: null,
    exit_code: null,
    committed_at: null,
    stopped_at: null,
    changes: [],
    moving: null,
  };
}
