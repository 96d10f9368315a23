import type { Places } from "../base/paths.ts";
import { packageVersion } from "../base/version.ts";
import type { hostOperations } from "../model/operations/host-operations.ts";
import type { Dependencies } from "../workspaces/dependencies.ts";
import { prepareEnvironment } from "../workspaces/prepare-environment.ts";
import { pruneEnvironments } from "../workspaces/prune-environments.ts";
import type { Workspaces } from "../workspaces/workspaces.ts";
import type { Handlers } from "./handlers.ts";
import { checkHealth } from "./health.ts";

export interface HostParts {
  readonly deps: Dependencies;
  readonly workspaces: Workspaces;
  readonly places: Places;
}

/** The operations about the installation. */
export function hostHandlers({
  deps,
  workspaces,
  places,
}: HostParts): Pick<Handlers, keyof typeof hostOperations & keyof Handlers> {
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
