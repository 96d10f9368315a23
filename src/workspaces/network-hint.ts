import { COMMAND_LINES, hintWords } from "../model/hint.ts";
import { NO_NETWORK, notListed } from "../model/no-network.ts";
import { type Ended, missedHost, missedNetwork } from "../policy/missing-network.ts";
import type { LiveWorkspace } from "./live-workspace.ts";

/** The hint for a command that wanted a network and had none, or a host that is not listed; nothing for every other command. */
export function networkHint(
  { hasEgress, workspaceId }: Pick<LiveWorkspace, "hasEgress" | "workspaceId">,
  ended: Ended,
): { hint?: string } {
  if (!(hasEgress ? missedHost(ended) : missedNetwork(ended))) return {};
  return { hint: hintWords(hasEgress ? notListed(workspaceId) : NO_NETWORK, COMMAND_LINES) };
}
