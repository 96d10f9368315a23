import type { serviceOperations } from "../../model/operations/service-operations.ts";
import { whenCallerLeaves } from "../caller-leaves.ts";
import type { Services } from "../services/services.ts";
import type { WorkspaceVerbs } from "../verb.ts";

export function serviceVerbs(services: Services): WorkspaceVerbs<typeof serviceOperations> {
  return {
    startService: ({ live, stored: { networkPolicy } }, input, { signal }) =>
      services.start(live, input, { signal: whenCallerLeaves(signal), networkPolicy }),
    listServices: ({ workspaceId, liveIfRunning }) => services.list(workspaceId, liveIfRunning),
    statusService: ({ workspaceId, liveIfRunning }, { service_name: name }) =>
      services.status(workspaceId, liveIfRunning, name),
    logsService: ({ live }, input) => services.logs(live, input),
    stopService: ({ live }, input) => services.stop(live, input),
  };
}
