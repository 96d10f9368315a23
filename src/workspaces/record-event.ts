import type { WorkspaceEvent } from "../model/summary.ts";
import type { Dependencies } from "./dependencies.ts";
import type { LiveWorkspace } from "./live-workspace.ts";
import { redactValue } from "./secrets.ts";

/** Writes down what was done to a workspace. A path may have a secret in it, and the store has none. */
export function recordEvent(deps: Dependencies, live: LiveWorkspace, event: WorkspaceEvent): void {
  deps.store.insertEvent(live.workspaceId, redactValue(event, live.secrets.redactor) as WorkspaceEvent);
}
