import type { workspaceOperations } from "../../model/operations/workspace-operations.ts";
import type { Dependencies } from "../dependencies.ts";
import { diffWorkspace } from "../diff-workspace.ts";
import type { Services } from "../services/services.ts";
import type { Shells } from "../shells/shells.ts";
import { summarizeWorkspace } from "../summarize-workspace.ts";
import type { WorkspaceVerbs } from "../verb.ts";
import type { Workspaces } from "../workspaces.ts";

export function workspaceVerbs(
  deps: Dependencies,
  workspaces: Workspaces,
  services: Services,
  shells: Shells,
): WorkspaceVerbs<typeof workspaceOperations> {
  return {
    statusWorkspace: ({ workspaceId }) => workspaces.status(workspaceId),
    updateWorkspace: ({ workspaceId }, input) => workspaces.update(workspaceId, input),
    deleteWorkspace: ({ workspaceId }) => workspaces.delete(workspaceId),
    stopWorkspace: ({ workspaceId }) => workspaces.stop(workspaceId),
    startWorkspace: ({ workspaceId }, _, context) => workspaces.start(workspaceId, context),
    summarizeWorkspace: async ({ workspaceId, stored, liveIfRunning: live }) => {
      const listed = await services.list(workspaceId, live);
      return await summarizeWorkspace(deps, workspaceId, {
        diff: async () => (live ? await diffWorkspace(live) : { reason: `the workspace is ${stored.state}` }),
        services: listed.services,
        shells: (await shells.list(workspaceId, live)).shells,
      });
    },
  };
}
