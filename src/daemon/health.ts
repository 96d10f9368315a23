import type { Places } from "../base/paths.ts";
import { agentPrograms } from "../bottles/agent-programs.ts";
import { DEFAULTS } from "../model/config.ts";
import type { Backend } from "../contracts/backend.ts";
import type { BackendHealth, Health } from "../model/health.ts";
import type { OperationInput } from "../model/operations.ts";
import type { ReportProgress } from "../model/progress.ts";
import { defaultLimits } from "../workspaces/default-limits.ts";
import type { Dependencies } from "../workspaces/dependencies.ts";
import { defaultEnvironment } from "../workspaces/require-capabilities.ts";

/** What `cloche doctor` tells: each backend proved by starting something, each environment by looking. */
export async function checkHealth(
  deps: Dependencies,
  places: Places,
  version: string,
  { backend: asked, oci_runtime: ociRuntime, search_path: searchPath }: OperationInput<"doctor">,
  progress?: ReportProgress,
): Promise<Health> {
  const config = deps.config();
  const backends = await Promise.all(
    [...deps.backends].map(async ([name, backend]): Promise<BackendHealth> => {
      const { limits, ...probe } = await backend.probe(
        backend.capabilities.ociRuntime ? ociRuntime : undefined,
        progress,
      );
      const {
        hostFolders,
        ociRuntime: takesRuntime,
        liveSnapshots,
        machineFiles,
        guardedSystem,
        doors,
        remediation,
      } = backend.capabilities;
      const capabilities = {
        host_folders: hostFolders,
        oci_runtime: takesRuntime,
        live_snapshots: liveSnapshots,
        machine_files: machineFiles ?? false,
        guarded_system: guardedSystem ?? false,
        egress: doors ?? false,
        remediation: remediation ?? false,
      };
      const hint = probe.hint ?? (await environmentHint(deps, backend));
      // A backend that does not work here cannot say whether it would emulate.
      const usual = await defaultLimits(probe.available ? backend : { isMachine: backend.isMachine === true }, config);
      const default_limits = { vcpu_count: usual.vcpuCount, mem_mib: usual.memMib, pids: usual.pids };
      return { name, ...probe, hint, limits: [...limits], default_limits, capabilities };
    }),
  );
  const chosen = asked ?? config.backend ?? DEFAULTS.backend;
  return {
    healthy: backends.some((one) => one.name === chosen && one.available),
    default_backend: chosen,
    version,
    home: places.home,
    cache: places.cache,
    backends,
    environments: await deps.environments.list(),
    agents: agentPrograms(searchPath),
  };
}

/** A backend that works may still lack what its workspaces start from. */
async function environmentHint({ environments }: Dependencies, backend: Backend): Promise<string | null> {
  const name = defaultEnvironment(backend);
  const obstacle = await environments.obstacle(name);
  return obstacle
    ? `It works, but not with ${name}, its default environment. ${obstacle.message}. ${obstacle.hint}`
    : null;
}
