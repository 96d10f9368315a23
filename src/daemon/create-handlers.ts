import { commandHandlers } from "./handlers/command-handlers.ts";
import { fileHandlers } from "./handlers/file-handlers.ts";
import { hostHandlers } from "./handlers/host-handlers.ts";
import { serviceHandlers } from "./handlers/service-handlers.ts";
import { shellHandlers } from "./handlers/shell-handlers.ts";
import { snapshotHandlers } from "./handlers/snapshot-handlers.ts";
import { workspaceHandlers } from "./handlers/workspace-handlers.ts";
import type { Handlers } from "./handlers.ts";
import type { Verbs } from "./verbs.ts";

/** The verbs as operations of the wire. */
export function createHandlers(verbs: Verbs): Handlers {
  return {
    ...workspaceHandlers(verbs),
    ...commandHandlers(verbs),
    ...fileHandlers(verbs),
    ...snapshotHandlers(verbs),
    ...serviceHandlers(verbs),
    ...shellHandlers(verbs),
    ...hostHandlers(verbs),
  };
}
