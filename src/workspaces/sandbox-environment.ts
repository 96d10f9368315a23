import { commandEnvironment } from "../model/command-environment.ts";
import { networkSettings } from "../policy/offline-settings.ts";
import type { LiveWorkspace } from "./live-workspace.ts";

/** The environment of whatever is started in a workspace: that of every command, then what its network policy and its doors ask for, then the caller's own. */
export const sandboxEnvironment = (
  live: Pick<LiveWorkspace, "networkPolicy" | "variables">,
  own: Readonly<Record<string, string>> | undefined,
  hasTerminal: boolean,
): Record<string, string> =>
  commandEnvironment({ ...networkSettings(live.networkPolicy), ...live.variables, ...own }, hasTerminal);
