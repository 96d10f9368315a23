import type { Hint } from "../base/hint.ts";
import { argument, call, way } from "./hint.ts";

/** For a command that wanted a network in a workspace that has none. */
export const NO_NETWORK: Hint = [
  way`this workspace has no network; bring what the command needs in the seed`,
  way`create one with ${argument("network_policy", "egress")} ${argument("allow_hosts", "HOST")} for each host that it needs`,
  way`with ${call("pushWorkspaceSync")}`,
  way`in an environment that has it, such as dockerfile:FOLDER`,
];
