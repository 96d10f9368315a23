import { COMMAND_LINES, hintWords } from "../model/hint.ts";
import { NO_NETWORK } from "../model/no-network.ts";
import { type Ended, missedNetwork } from "../policy/missing-network.ts";
import type { LiveWorkspace } from "./live-workspace.ts";

/** The hint for a command that wanted a network and had none; nothing for every other command. */
export const networkHint = (live: Pick<LiveWorkspace, "hasEgress">, ended: Ended): { hint?: string } =>
  live.hasEgress || !missedNetwork(ended) ? {} : { hint: hintWords(NO_NETWORK, COMMAND_LINES) };
