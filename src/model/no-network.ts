import type { Hint } from "../base/hint.ts";
import { argument, call, way } from "./hint.ts";

/** For a command that wanted a network in a workspace that has none. */
export const NO_NETWORK: Hint = [
  way`this workspace has no network; bring what the command needs in the seed`,
  way`create one with ${argument("network_policy", "egress")} ${argument("allow_hosts", "HOST")} for each host that it needs`,
  way`with ${call("pushWorkspaceSync")}`,
  way`in an environment that has it, such as dockerfile:FOLDER`,
];

/** For a command that wanted a host which its workspace does not list. */
export const notListed = (workspaceId: string): Hint => [
  way`this workspace reaches only the hosts that are listed for it; do without others`,
  way`see what was refused with ${call("learnEgress", { workspace_id: workspaceId })}`,
];
