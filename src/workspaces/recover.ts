import type { Wall } from "../contracts/backend.ts";
import type { StoredWorkspace } from "../contracts/store.ts";
import type { ExecutionMode } from "../model/names.ts";
import { adoptCommands } from "./adopt-commands.ts";
import type { Dependencies } from "./dependencies.ts";
import { executionModeOf } from "./execution-mode.ts";
import { LiveWorkspace } from "./live-workspace.ts";
import { rootFiles } from "./sandbox.ts";
import { NO_SECRETS, SECRETS_FOLDER, Secrets } from "./secrets.ts";

const MAX_SECRET_BYTES = 65_536;

/** Takes up a sandbox that an earlier daemon left running. Takes as long as its guest program takes to answer. */
export async function adoptWorkspace(
  deps: Dependencies,
  stored: StoredWorkspace,
  wall: Wall,
  onLost: (reason: string) => void,
  /** Services and shells. */
  alsoAdopt: (live: LiveWorkspace) => Promise<unknown>,
): Promise<LiveWorkspace> {
  const { workspaceId, limits } = stored;
  // SECURITY: nothing is taken out of a sandbox before its secrets are known, so that they can be redacted (G-17).
  const executionMode = executionModeOf(deps, stored.backend);
  const secrets = await recoverSecrets(stored, wall, executionMode);
  const live = new LiveWorkspace({ workspaceId, wall, executionMode, limits, secrets, onLost });
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

/** The values are in the sandbox's memory, where the last daemon put them. */
async function recoverSecrets(
  { workspaceId, limits, ...stored }: StoredWorkspace,
  wall: Wall,
  executionMode: ExecutionMode,
): Promise<Secrets> {
  if (stored.secrets.length === 0) return NO_SECRETS;
  const onLost = () => undefined;
  const bare = new LiveWorkspace({ workspaceId, wall, executionMode, limits, secrets: NO_SECRETS, onLost });
  try {
    const files = await rootFiles(bare);
    const values = new Map<string, string>();
    for (const { name } of stored.secrets) {
      const { content } = await files.readAll("system", `${SECRETS_FOLDER}/${name}`, { maxBytes: MAX_SECRET_BYTES });
      values.set(name, content.toString("utf8"));
    }
    return new Secrets(values);
  } finally {
    await bare.release();
  }
}
