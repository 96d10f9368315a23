import { within } from "../base/deadline.ts";
import type { StoredWorkspace } from "../contracts/store.ts";
import { failure } from "../model/error-codes.ts";
import { adoptCommands } from "./adopt-commands.ts";
import type { Dependencies } from "./dependencies.ts";
import { LiveWorkspace } from "./live-workspace.ts";
import { getBackend, rootFiles, sandboxDirectory } from "./sandbox.ts";
import { NO_SECRETS, SECRETS_FOLDER, Secrets } from "./secrets.ts";

/** A sandbox that does not answer in this time is left alone until somebody asks for it. */
const ADOPTION_MS = 3000;
const MAX_SECRET_BYTES = 65_536;

/** Finds the sandbox of a workspace that an earlier daemon left running; undefined when it is gone. */
export async function adoptWorkspace(
  deps: Dependencies,
  stored: StoredWorkspace,
  onLost: (reason: string) => void,
  /** Services and shells. */
  alsoAdopt: (live: LiveWorkspace) => Promise<unknown>,
): Promise<LiveWorkspace | undefined> {
  const { workspaceId, limits } = stored;
  const wall =
    stored.wall && (await getBackend(deps, stored.backend).adopt(sandboxDirectory(deps.home, stored), stored.wall));
  if (!wall) return undefined;
  const bare = new LiveWorkspace({ workspaceId, wall, limits, secrets: NO_SECRETS, onLost });
  const adopt = async () => {
    const secrets = await recoverSecrets(stored, bare);
    const live = secrets === NO_SECRETS ? bare : new LiveWorkspace({ workspaceId, wall, limits, secrets, onLost });
    await adoptCommands(deps, live);
    await alsoAdopt(live);
    return live;
  };
  try {
    // SECURITY: a guest that does not answer holds up nobody else (G-10).
    return await within(ADOPTION_MS, adopt(), () => failure("SANDBOX_LOST", "The guest program does not answer"));
  } catch (error) {
    deps.log.warn("a sandbox does not answer as it should", { workspaceId, error: String(error) });
    return bare;
  }
}

/** The values are in the sandbox's memory, where the last daemon put them. */
async function recoverSecrets(stored: StoredWorkspace, live: LiveWorkspace): Promise<Secrets> {
  if (stored.secrets.length === 0) return NO_SECRETS;
  const files = await rootFiles(live);
  const values = new Map<string, string>();
  for (const { name } of stored.secrets) {
    const { content } = await files.readAll("system", `${SECRETS_FOLDER}/${name}`, { maxBytes: MAX_SECRET_BYTES });
    values.set(name, content.toString("utf8"));
  }
  return new Secrets(values);
}
