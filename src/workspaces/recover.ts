import type { Wall } from "../contracts/backend.ts";
import type { StoredSecret, StoredWorkspace } from "../contracts/store.ts";
import { adoptCommands } from "./adopt-commands.ts";
import type { Dependencies } from "./dependencies.ts";
import { executionModeOf } from "./execution-mode.ts";
import { liveWorkspaceOf } from "./live-workspace-of.ts";
import type { LiveWorkspace } from "./live-workspace.ts";
import { ChangedSecret, recoverSecrets } from "./sandbox-secrets.ts";
import { NO_SECRETS } from "./secrets.ts";

/** Takes up a sandbox that an earlier daemon left running. Takes as long as its guest program takes to answer. */
export async function adoptWorkspace(
  deps: Dependencies,
  stored: StoredWorkspace,
  wall: Wall,
  onLost: (reason: string) => void,
  /** Services and shells. */
  alsoAdopt: (live: LiveWorkspace) => Promise<unknown>,
): Promise<LiveWorkspace> {
  // SECURITY: nothing is taken out of a sandbox before its secrets are known, so that they can be redacted (G-17).
  const executionMode = executionModeOf(deps, stored.backend);
  const mayLack = ({ absent }: StoredSecret) => absent === true;
  const secrets = await recoverSecrets(stored, { wall, executionMode, known: NO_SECRETS, mayLack }).catch(
    async (error: unknown) => {
      if (error instanceof ChangedSecret) {
        // SECURITY: what cannot be redacted is not let out: all that may know the value ends (G-17)
        await wall.stop();
        onLost(error.message);
      }
      throw error;
    },
  );
  const live = liveWorkspaceOf(deps, stored, { wall, executionMode, secrets, onLost });
  await takeUpSession(deps, live, alsoAdopt);
  return live;
}

/** What runs in a sandbox and is in the store is followed again. Never rejects. */
export async function takeUpSession(
  deps: Dependencies,
  live: LiveWorkspace,
  alsoAdopt: (live: LiveWorkspace) => Promise<unknown>,
): Promise<void> {
  try {
    await adoptCommands(deps, live);
    await alsoAdopt(live);
  } catch (error) {
    const { workspaceId } = live;
    deps.log.warn("a sandbox does not answer as it should", { workspaceId, error: String(error) });
  }
}
