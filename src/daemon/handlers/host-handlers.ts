import { packageVersion } from "../../base/version.ts";
import type { Verbs } from "../verbs.ts";
import type { Handlers } from "../handlers.ts";
import { checkHealth } from "../health.ts";

type Topic = "listEnvironments" | "pullEnvironment" | "inspectEnvironment" | "pruneEnvironments" | "doctor";

export function hostHandlers({ deps, places }: Verbs): Pick<Handlers, Topic> {
  return {
    listEnvironments: async () => {
      const environments = await deps.environments.list();
      return { count: environments.length, environments };
    },
    pullEnvironment: async ({ environment: name }, context) => {
      await deps.environments.ensure(name, context);
      return await deps.environments.inspect(name);
    },
    inspectEnvironment: ({ environment: name }) => deps.environments.inspect(name),
    pruneEnvironments: () =>
      deps.environments.prune(new Set(deps.store.listWorkspaces().map((one) => one.environment))),
    doctor: ({ oci_runtime: ociRuntime }) => checkHealth(deps, places, packageVersion(), ociRuntime),
  };
}
