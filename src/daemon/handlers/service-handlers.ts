import type { serviceOperations } from "../../model/operations/service-operations.ts";
import type { Verbs } from "../verbs.ts";
import type { HandlersOf } from "../handlers.ts";
import { whenClientLeaves } from "./settle.ts";

export function serviceHandlers({ workspaces, services }: Verbs): HandlersOf<typeof serviceOperations> {
  return {
    startService: async (input, { signal }) => {
      const live = workspaces.live(input.workspace_id);
      const { networkPolicy } = workspaces.find(live.workspaceId);
      const started = await services.start(live, input, { signal: whenClientLeaves(signal), networkPolicy });
      workspaces.touch(live.workspaceId);
      return started;
    },
    listServices: async ({ workspace_id: id }) =>
      await services.list(workspaces.find(id).workspaceId, workspaces.findLive(id)),
    statusService: async ({ workspace_id: id, service_name: name }) =>
      await services.status(workspaces.find(id).workspaceId, workspaces.findLive(id), name),
    logsService: async (input) => await services.logs(workspaces.live(input.workspace_id), input),
    stopService: async (input) => {
      const live = workspaces.live(input.workspace_id);
      const stopped = await services.stop(live, input);
      workspaces.touch(live.workspaceId);
      return stopped;
    },
  };
}
