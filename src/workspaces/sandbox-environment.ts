import { commandEnvironment } from "../model/command-environment.ts";
import { networkSettings } from "../policy/offline-settings.ts";
import type { LiveWorkspace } from "./live-workspace.ts";

/** The environment of whatever is started in a workspace: that of every command, then what stands for its tokens and what its way out or the lack of one asks for, then the caller's own. */
export const sandboxEnvironment = (
  live: Pick<LiveWorkspace, "hasEgress" | "standIns">,
  own: Readonly<Record<string, string>> | undefined,
  hasTerminal: boolean,
): Record<string, string> =>
  commandEnvironment({ ...live.standIns, ...networkSettings(live.hasEgress), ...own }, hasTerminal);
