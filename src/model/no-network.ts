import type { Hint } from "../base/hint.ts";
import { call, way } from "./hint.ts";

/** For a command that wanted a network in a workspace that has none. */
export const NO_NETWORK: Hint = [
  way`this workspace has no network; bring what the command needs in the seed`,
  way`with ${call("pushWorkspaceSync")}`,
  way`in an environment that has it, such as dockerfile:FOLDER`,
];
