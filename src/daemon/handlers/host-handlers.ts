import { pruneEnvironments } from "../../workspaces/prune-environments.ts";
import { prepareEnvironment } from "../../workspaces/prepare-environment.ts";
import { packageVersion } from "../../base/version.ts";
import type { hostOperations } from "../../model/operations/host-operations.ts";
import type { Verbs } from "../verbs.ts";
import type { HandlersOf } from "../handlers.ts";
import { checkHealth } from "../health.ts";

export function hostHandlers({ deps, workspaces, places }: Verbs): HandlersOf<typeof hostOperations> {
  return {
    listEnvironments: async () => {
      const environments = await deps.environments.list();
      return { count: environments.length, environments };
    },
    pullEnvironment: async ({ environment: name, build_network: network }, context) => {
      await deps.environments.ensure(name, { ...context, network });
      return await deps.environments.inspect(name);
    },
    inspectEnvironment: ({ environment: name }) => deps.environments.inspect(name),
    pruneEnvironments: (input, { progress }) => pruneEnvironments(deps, input, progress),
    prepare: (input, context) => prepareEnvironment(deps, workspaces, input, context),
    doctor: (input, { progress }) => checkHealth(deps, places, packageVersion(), input, progress),
  };
}
