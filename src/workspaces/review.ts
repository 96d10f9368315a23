import type { LiveWorkspace } from "./live-workspace.ts";
import { isStopped } from "./present.ts";
import type { FoundWorkspace } from "./verb.ts";
import type { Workspaces } from "./workspaces.ts";

/** The sandbox to look into, and how to keep what it stands on in place meanwhile. */
export interface Reviewed {
  readonly live: LiveWorkspace;
  readonly takeTurn: <Result>(work: () => Promise<Result>) => Promise<Result>;
}

/**
 * Looks at the files of a workspace: in its sandbox where it runs, else in one in which nothing but the guest program runs. So what a run has left, or what has expired, is
 * reviewed without starting it again.
 */
export async function review<Result>(
  workspaces: Pick<Workspaces, "inspect" | "turns">,
  found: FoundWorkspace,
  look: (reviewed: Reviewed) => Promise<Result>,
): Promise<Result> {
  const { workspaceId, stored, liveIfRunning } = found;
  if (!liveIfRunning && isStopped(stored))
    // The turn is taken already.
    return await workspaces.inspect(workspaceId, (live) => look({ live, takeTurn: (work) => work() }));
  return await look({ live: found.live, takeTurn: (work) => workspaces.turns.take(workspaceId, work) });
}
