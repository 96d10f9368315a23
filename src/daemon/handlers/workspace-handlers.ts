import { diffWorkspace } from "../../workspaces/diff-workspace.ts";
import { summarizeWorkspace } from "../../workspaces/summarize-workspace.ts";
import type { workspaceOperations } from "../../model/operations/workspace-operations.ts";
import type { Verbs } from "../verbs.ts";
import type { HandlersOf } from "../handlers.ts";
import { settle } from "./settle.ts";

export function workspaceHandlers({ deps, workspaces, services }: Verbs): HandlersOf<typeof workspaceOperations> {
  return {
    createWorkspace: (input, context) => workspaces.create(input, context),
    listWorkspaces: () => settle(() => workspaces.list()),
    statusWorkspace: ({ workspace_id: id }) => settle(() => workspaces.status(id)),
    updateWorkspace: (input) => settle(() => workspaces.update(input)),
    deleteWorkspace: ({ workspace_id: id }) => workspaces.delete(id),
    stopWorkspace: ({ workspace_id: id }) => workspaces.stop(id),
    startWorkspace: ({ workspace_id: id }, context) => workspaces.start(id, context),
    summarizeWorkspace: async ({ workspace_id: id }) => {
      const { workspaceId, state } = workspaces.find(id);
      const live = workspaces.findLive(workspaceId);
      const listed = await services.list(workspaceId, live);
      return await summarizeWorkspace(deps, workspaceId, {
        diff: async () => (live ? await diffWorkspace(live) : { reason: `the workspace is ${state}` }),
        services: listed.services,
      });
    },
  };
}
