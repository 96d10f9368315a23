import type { BottlePlan } from "../model/bottle-plan.ts";
import type { OperationInput } from "../model/operations.ts";
import type { RunMetadata } from "../model/run.ts";
import type { Dependencies } from "../workspaces/dependencies.ts";
import { planRun, type RunMemory } from "./plan-run.ts";

/** The plan of a run that was kept: the agent and the bottles as they are now, on the backend that it is on, for the conversation that it had. */
export async function planAgain(
  deps: Dependencies,
  metadata: RunMetadata,
  { headless, prompt, manifest, guest_skills_folder }: Omit<OperationInput<"planResume">, "identity">,
  standIns: RunMemory["standIns"] = {},
): Promise<BottlePlan> {
  const { agent_name, bottle_names, backend, cwd, copy_cwd, label, color, session_id: id } = metadata;
  const request = {
    agent: agent_name,
    bottles: [...bottle_names],
    backend,
    project_path: cwd,
    copy_cwd,
    headless,
    prompt,
    manifest,
    guest_skills_folder,
    ...(label !== null && { label }),
    ...(color !== null && { color }),
  };
  const plan = await planRun(deps, request, { session: { id, resume: true }, standIns });
  // Its workspace has the environment that it was made from.
  return { ...plan, environment: metadata.environment };
}
