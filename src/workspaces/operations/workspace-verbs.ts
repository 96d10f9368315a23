import type { workspaceOperations } from "../../model/operations/workspace-operations.ts";
import type { Dependencies } from "../dependencies.ts";
import { withState } from "../diff/compared-state.ts";
import { outlineDiff } from "../diff/diff-workspace.ts";
import { isStopped } from "../present.ts";
import { review } from "../review.ts";
import type { Services } from "../services/services.ts";
import type { Shells } from "../shells/shells.ts";
import { summarizeWorkspace } from "../summarize-workspace.ts";
import type { FoundWorkspace, WorkspaceVerbs } from "../verb.ts";
import type { Workspaces } from "../workspaces.ts";

export function workspaceVerbs(
  deps: Dependencies,
  workspaces: Workspaces,
  services: Services,
  shells: Shells,
): WorkspaceVerbs<typeof workspaceOperations> {
  const outline = (found: FoundWorkspace) => {
    const { stored } = found;
    return review(workspaces, found, ({ live, takeTurn }) =>
      withState(deps, { stored, takeTurn }, (state) =>
        outlineDiff({ live, state, rules: deps.seeds.ignoreRules(stored.baseline) }),
      ),
    );
  };
  return {
    statusWorkspace: ({ workspaceId }) => workspaces.status(workspaceId),
    updateWorkspace: ({ workspaceId }, input) => workspaces.update(workspaceId, input),
    deleteWorkspace: ({ workspaceId }) => workspaces.delete(workspaceId),
    stopWorkspace: ({ workspaceId }) => workspaces.stop(workspaceId),
    startWorkspace: ({ workspaceId }, _, context) => workspaces.start(workspaceId, context),
    summarizeWorkspace: async (found) => {
      const { workspaceId, stored, liveIfRunning: live } = found;
      const canBeSeen = live !== undefined || isStopped(stored);
      const listed = await services.list(workspaceId, live);
      return await summarizeWorkspace(deps, workspaceId, {
        diff: async () => (canBeSeen ? await outline(found) : { reason: `the workspace is ${stored.state}` }),
        services: listed.services,
        shells: (await shells.list(workspaceId, live)).shells,
      });
    },
  };
}
