import type { StoredWorkspace } from "../contracts/store.ts";
import type { Dependencies } from "./dependencies.ts";
import { isEgressDoor } from "./egress-door.ts";
import { type LiveOptions, LiveWorkspace } from "./live-workspace.ts";

/** A workspace as it is recorded, over the sandbox that runs for it: one that was just started, or that an earlier daemon left. */
export function liveWorkspaceOf(
  { events }: Pick<Dependencies, "events">,
  { workspaceId, limits, doors, egress }: StoredWorkspace,
  sandbox: Pick<LiveOptions, "wall" | "executionMode" | "secrets" | "onLost">,
): LiveWorkspace {
  // SECURITY: before anything can happen in it that is told, whichever daemon gave it its secrets (G-29)
  events.conceal(workspaceId, sandbox.secrets.redactor);
  const standIns = egress?.standIns ?? {};
  return new LiveWorkspace({ ...sandbox, workspaceId, limits, hasEgress: doors.some(isEgressDoor), standIns });
}
