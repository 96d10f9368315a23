import type { bottleOperations } from "../model/operations/bottle-operations.ts";
import type { OperationName } from "../model/operations.ts";
import { plannedRun } from "../policy/bottles/preflight.ts";
import type { Dependencies } from "../workspaces/dependencies.ts";
import type { Verb } from "../workspaces/verb.ts";
import { describeAgent } from "./describe-agent.ts";
import { initManifest } from "./init-manifest.ts";
import { listAgents } from "./list-agents.ts";
import { openManifest, planRun, planWithBottle } from "./plan-run.ts";

type BottleVerbs = { readonly [Name in keyof typeof bottleOperations & OperationName]: Verb<Name> };

/** The operations about bottles, agents and what would be started. */
export function bottleVerbs(deps: Dependencies): BottleVerbs {
  return {
    listAgents: (input, { signal }) => listAgents(deps.home, openManifest(deps.home, input), signal),
    inspectAgent: async (input) => describeAgent(await planWithBottle(deps, input)),
    planRun: async (input) => {
      const plan = await planRun(deps, input);
      deps.environments.requireDefined(plan.environment); // else the start that was agreed to would fail
      return plannedRun(plan);
    },
    initManifest: async (input) => await Promise.resolve(initManifest(deps.home, input)),
  };
}
